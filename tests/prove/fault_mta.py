"""Programs of a Postfix that holds one message, for `gillnet quarantine`: they answer as postqueue and postcat do, and
sendmail writes each digest to a file.  What gillnet keeps about held mail is the links of digests."""
import quopri
import re
import time

HELD = "A1234B5678"
RECIPIENT = "bob@here.example"
POSTCAT = f"""#!/bin/sh
echo "*** ENVELOPE RECORDS hold/{HELD} ***"
echo "*** MESSAGE CONTENTS hold/{HELD} ***"
echo "X-Gillnet-Status: Yes, action=quarantine score=11.2 required=5.0"
echo "From: a@sender.example"
echo "Subject: held"
echo
echo "*** HEADER EXTRACTED hold/{HELD} ***"
echo "*** MESSAGE FILE END hold/{HELD} ***"
"""


def install(folder, digests):
    """Writes the programs into folder; digests is the file of all digests that were sent."""
    listing = (f'{{"queue_name": "hold", "queue_id": "{HELD}", "arrival_time": {int(time.time())}, "message_size": 384, '
               f'"sender": "a@sender.example", "recipients": [{{"address": "{RECIPIENT}"}}]}}')
    programs = {"postqueue": f"#!/bin/sh\necho '{listing}'\n", "postcat": POSTCAT, "postsuper": "#!/bin/sh\nexit 0\n",
                "sendmail": f"#!/bin/sh\nexec cat >>{digests}\n"}
    folder.mkdir()
    for name, text in programs.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    digests.touch()
    digests.chmod(0o666)


def links(digests):
    """Tokens of the links in all digests so far."""
    return set(re.findall(r"/q/([0-9a-z]{32})", quopri.decodestring(digests.read_bytes()).decode()))
