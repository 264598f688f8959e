#!/usr/bin/python3
"""An SMTP server on a free port of 127.0.0.1 (Debian's python3-aiosmtpd), its port on standard output.
usage: mail_server.py starttls|smtps|plain CERT KEY OUT

Each message it takes is parsed by Python's email package and appended to OUT as a line of JSON. With starttls and smtps it
takes mail only from user hiwat with password "p ss:w\u00f6rd". A recipient whose name is three digits gets them as status; a recipient
data-DIGITS gives the message that status.
"""
import asyncio
import email
import email.policy
import html.parser
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

mode, cert, key, out = sys.argv[1:]


class Text(html.parser.HTMLParser):
    """What is to be read in HTML, and the elements in it."""

    def __init__(self):
        super().__init__()
        self.text, self.tags = "", set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text += data


def as_json(session, envelope):
    raw = envelope.original_content
    message = email.message_from_bytes(raw, policy=email.policy.default)
    parts = {part.get_content_type(): part.get_content().replace("\r\n", "\n") for part in message.iter_parts()}
    page = Text()
    page.feed(parts.get("text/html", ""))
    return {
        "from": envelope.mail_from,
        "to": envelope.rcpt_tos,
        "tls": session.ssl is not None or mode == "smtps",
        "user": session.auth_data.login.decode() if session.authenticated else "",
        "type": message.get_content_type(),
        "headers": {name.lower(): str(value) for name, value in message.items()},
        "n_headers": len(message.items()),
        "longest": max(len(line) for line in raw.split(b"\r\n")),
        "ascii": raw.isascii(),
        "defects": [str(d) for d in message.defects],
        "text": parts.get("text/plain"),
        "html": page.text,
        "tags": sorted(page.tags),
    }


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        name = address.split("@")[0]
        if name.isdigit():
            return name + " not this one"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        name = envelope.rcpt_tos[0].split("@")[0]
        if name.startswith("data-"):
            return name[5:] + " not this one"
        with open(out, "a", encoding="utf-8") as f:
            f.write(json.dumps(as_json(session, envelope)) + "\n")
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    known = data.login == b"hiwat" and data.password == "p ss:w\u00f6rd".encode()
    return AuthResult(success=known, handled=False, auth_data=data)


async def main():
    context = None
    if mode != "plain":
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(cert, key)

    def session():
        if mode == "plain":
            return SMTP(Handler(), hostname="localhost")
        if mode == "smtps":
            return SMTP(Handler(), hostname="localhost", auth_required=True, authenticator=authenticate, auth_require_tls=False)
        return SMTP(Handler(), hostname="localhost", tls_context=context, require_starttls=True, auth_required=True,
                    authenticator=authenticate)

    server = await asyncio.get_running_loop().create_server(session, "127.0.0.1", 0,
                                                            ssl=context if mode == "smtps" else None)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
