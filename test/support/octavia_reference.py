"""The real Octavia API on 127.0.0.1 (Debian's python3-octavia), to be compared with.

usage: /usr/bin/python3 octavia_reference.py FOLDER

No-op drivers, no authentication, an SQLite file in FOLDER. Nothing stands behind the API, so this process plays the worker: before
each request it finishes what the earlier ones left pending. When it listens, it prints its port.
"""
import os
import sys
import warnings
from wsgiref import simple_server

FOLDER = sys.argv[1]
DATABASE = os.path.join(FOLDER, "octavia.sqlite")
CONFIG = os.path.join(FOLDER, "octavia.conf")
POLICY = os.path.join(FOLDER, "policy.yaml")

SETTINGS = {
    "DEFAULT": {"transport_url": "fake://", "log_file": os.path.join(FOLDER, "octavia.log")},
    "api_settings": {
        "auth_strategy": "noauth",
        "enabled_provider_drivers": "noop_driver:no-op",
        "default_provider_driver": "noop_driver",
        "allow_ping_health_monitors": "True",
    },
    "database": {"connection": "sqlite:///" + DATABASE},
    "controller_worker": {
        "network_driver": "network_noop_driver",
        "compute_driver": "compute_noop_driver",
        "amphora_driver": "amphora_noop_driver",
        "image_driver": "image_noop_driver",
        "volume_driver": "volume_noop_driver",
    },
    "certificates": {"cert_manager": "local_cert_manager"},
    "oslo_policy": {"policy_file": POLICY},
}

with open(CONFIG, "w") as out:
    for section, values in SETTINGS.items():
        out.write("[%s]\n" % section + "".join("%s = %s\n" % pair for pair in values.items()))
with open(POLICY, "w") as out:
    out.write("{}\n")

warnings.simplefilter("ignore")
ARGUMENTS = ["octavia-api", "--config-file", CONFIG]
sys.argv = ARGUMENTS

from octavia.api import app as octavia_app  # noqa: E402
from octavia.common import constants  # noqa: E402
from octavia.db import api as database, base_models, models  # noqa: E402
from sqlalchemy import text  # noqa: E402

application = octavia_app.setup_app(argv=ARGUMENTS)
engine = database.get_engine()
base_models.BASE.metadata.create_all(engine)

# Lookup tables that a real installation gets from its migrations.
WORDS = {
    models.ProvisioningStatus: constants.SUPPORTED_PROVISIONING_STATUSES,
    models.OperatingStatus: constants.SUPPORTED_OPERATING_STATUSES,
    models.Protocol: constants.SUPPORTED_PROTOCOLS,
    models.Algorithm: constants.SUPPORTED_LB_ALGORITHMS,
    models.HealthMonitorType: constants.SUPPORTED_HEALTH_MONITOR_TYPES,
    models.SessionPersistenceType: constants.SUPPORTED_SP_TYPES,
    models.LBTopology: constants.SUPPORTED_LB_TOPOLOGIES,
    models.ClientAuthenticationMode: constants.SUPPORTED_CLIENT_AUTH_MODES,
}
with engine.begin() as connection:
    for model, words in WORDS.items():
        for word in words:
            connection.execute(model.__table__.insert().values(name=word))
    # The API joins with these placeholders when it deletes.
    profile = {"id": constants.NIL_UUID, "name": "none", "provider_name": constants.DELETED, "flavor_data": "{}"}
    connection.execute(models.FlavorProfile.__table__.insert().values(**profile))
    flavor = {"id": constants.NIL_UUID, "flavor_profile_id": constants.NIL_UUID, "name": "none", "enabled": False}
    connection.execute(models.Flavor.__table__.insert().values(description="", **flavor))

PENDING_DELETE = "provisioning_status = 'PENDING_DELETE'"


def finish_pending():
    """What a worker would do with all that is pending, and the health manager after it."""
    with engine.begin() as connection:
        def run(statement):
            connection.execute(text(statement))

        # A load balancer to be deleted takes all its children along.
        gone = "(select id from load_balancer where %s)" % PENDING_DELETE
        run("update listener set provisioning_status='PENDING_DELETE' where load_balancer_id in " + gone)
        run("update pool set provisioning_status='PENDING_DELETE' where load_balancer_id in " + gone)
        pools = "(select id from pool where %s)" % PENDING_DELETE
        listeners = "(select id from listener where %s)" % PENDING_DELETE
        for table in ("member", "health_monitor", "session_persistence"):
            run("delete from %s where pool_id in %s" % (table, pools))
        run("update listener set default_pool_id=null where default_pool_id in " + pools)
        for table in ("listener_cidr", "listener_statistics"):
            run("delete from %s where listener_id in %s" % (table, listeners))
        for table in ("member", "health_monitor", "pool", "listener"):
            run("delete from %s where %s" % (table, PENDING_DELETE))
        run("update load_balancer set provisioning_status='DELETED' where " + PENDING_DELETE)
        for table in ("load_balancer", "listener", "pool", "member", "health_monitor"):
            run("update %s set provisioning_status='ACTIVE' where provisioning_status like 'PENDING%%'" % table)
            if table != "member":
                run("update %s set operating_status=case when enabled then 'ONLINE' else 'OFFLINE' end" % table)


def serve(environ, start_response):
    finish_pending()
    return list(application(environ, start_response))


class Quiet(simple_server.WSGIRequestHandler):
    def log_message(self, *_):
        pass


server = simple_server.make_server("127.0.0.1", 0, serve, handler_class=Quiet)
print(server.server_port, flush=True)
server.serve_forever()
