/** Which versions of the API there are: what a client asks before anything else. */

/** When each minor version of Octavia's API came out; a client that knows fewer ignores the rest. */
const released: readonly string[] = [
  "2016-12-11T00:00:00Z",
  "2018-04-20T00:00:00Z",
  "2018-07-31T00:00:00Z",
  "2018-12-18T00:00:00Z",
  "2018-12-19T00:00:00Z",
  "2019-01-21T00:00:00Z",
  "2019-01-25T00:00:00Z",
  "2018-01-25T12:00:00Z",
  "2019-02-12T00:00:00Z",
  "2019-03-04T00:00:00Z",
  "2019-03-05T00:00:00Z",
  "2019-06-24T00:00:00Z",
  "2019-09-11T00:00:00Z",
  "2019-09-13T00:00:00Z",
  "2019-11-10T00:00:00Z",
  "2020-03-10T00:00:00Z",
  "2020-03-15T00:00:00Z",
  "2020-04-29T00:00:00Z",
  "2020-04-29T01:00:00Z",
  "2020-05-12T00:00:00Z",
  "2020-08-02T00:00:00Z",
  "2020-09-03T00:00:00Z",
  "2020-09-04T00:00:00Z",
  "2020-09-07T00:00:00Z",
  "2020-10-15T00:00:00Z",
  "2021-10-02T00:00:00Z",
  "2022-08-29T00:00:00Z",
];

/** @param base URL of the place the API hangs under, without a slash at its end */
export const versionDocument = (base: string) => ({
  versions: released.map((updated, minor) => ({
    id: `v2.${minor}`,
    status: minor === released.length - 1 ? "CURRENT" : "SUPPORTED",
    updated,
    links: [{ href: `${base}/v2`, rel: "self" }],
  })),
});
