/** A list such as "a,b(c,d),e" cut at the commas that are in no parentheses; empty items are left out. */
export const splitList = (text: string): readonly string[] => {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= text.length; i++) {
    const c = text[i];
    if (c === "(") depth++;
    else if (c === ")") depth--;
    else if (i === text.length || (c === "," && depth === 0)) {
      if (i > start) parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return parts;
};
