#!/usr/bin/env python3
"""Login codes, invoices and notices of proved senders are not marked, whatever else is configured.

Usage: test_protected.py GILLNET

The messages are rendered here: KINDS in six languages, in the forms that programs send. Where there is a
data folder its messages of these kinds are judged, too. Each has a result of our server that proves
its sender. The rules are those that gillnet ships; the lists have entries, and none of these senders.
"""
import base64
import email.parser
import email.policy
import email.utils
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import datafolder

GILLNET = ""
SERVER = "mx.our.example"
LISTED = "evil-listed.example"
CONFIG = """
state_dir = "%s";
trusted_authserv = [ "mx.our.example" ];
lists = ( { name = "phish"; category = "phish"; weight = 12.0; },
          { name = "malware"; category = "malware"; weight = 12.0; },
          { name = "spam"; category = "spam"; weight = 6.0; } );
"""
KINDS_OF_DATA = {"logincode", "password", "invoice", "order", "shipping", "account", "bank", "notice"}

# kind: {language: (subject, text)}; %(code)s, %(name)s, %(link)s, %(sum)s are filled in
KINDS = {
    "logincode": {
        "en": ("Your verification code: %(code)s", "Hello %(name)s,\n\nYour sign-in code is %(code)s. It is valid for 10 minutes. Never share this code with anyone. If you did not try to sign in, change your password at %(link)s"),
        "de": ("Ihr Bestätigungscode: %(code)s", "Guten Tag %(name)s,\n\nIhr Anmeldecode lautet %(code)s und gilt zehn Minuten. Geben Sie ihn an niemanden weiter. Wenn Sie sich nicht anmelden wollten, ändern Sie Ihr Kennwort: %(link)s"),
        "fr": ("Votre code de connexion : %(code)s", "Bonjour %(name)s,\n\nVotre code de vérification est %(code)s. Il expire dans 10 minutes. Ne le communiquez à personne. Si vous n'êtes pas à l'origine de cette demande : %(link)s"),
        "es": ("Tu código de acceso es %(code)s", "Hola %(name)s:\n\nTu código de verificación es %(code)s y caduca en 10 minutos. No lo compartas con nadie. Si no has sido tú, cambia tu contraseña en %(link)s"),
        "ja": ("認証コード %(code)s", "%(name)s 様\n\nログイン用の認証コードは %(code)s です。10分以内に入力してください。このコードは誰にも教えないでください。心当たりのない場合はこちら %(link)s"),
        "ru": ("Код подтверждения: %(code)s", "Здравствуйте, %(name)s!\n\nВаш код для входа: %(code)s. Он действует 10 минут. Никому не сообщайте этот код. Если это были не вы, смените пароль: %(link)s"),
    },
    "password": {
        "en": ("Reset your password", "Hi %(name)s,\n\nWe received a request to reset the password of your account. Click the link below to choose a new password. The link expires in one hour.\n\n%(link)s\n\nIf you did not request this, please ignore this message."),
        "de": ("Kennwort zurücksetzen", "Hallo %(name)s,\n\nfür Ihr Konto wurde ein neues Kennwort angefordert. Klicken Sie auf diesen Link, er gilt eine Stunde:\n\n%(link)s\n\nWenn Sie das nicht waren, ist nichts weiter zu tun."),
        "fr": ("Réinitialisation de votre mot de passe", "Bonjour %(name)s,\n\nPour choisir un nouveau mot de passe, cliquez sur ce lien valable une heure :\n\n%(link)s\n\nSi vous n'avez rien demandé, ignorez ce message."),
        "es": ("Restablece tu contraseña", "Hola %(name)s:\n\nHemos recibido una solicitud para restablecer tu contraseña. Haz clic en el enlace, válido durante una hora:\n\n%(link)s\n\nSi no la has pedido, ignora este mensaje."),
        "ja": ("パスワードの再設定", "%(name)s 様\n\nパスワード再設定のお申し込みを受け付けました。1時間以内に次のリンクから新しいパスワードを設定してください。\n\n%(link)s\n\nお心当たりのない場合は破棄してください。"),
        "ru": ("Сброс пароля", "Здравствуйте, %(name)s!\n\nВы запросили сброс пароля. Перейдите по ссылке, она действует один час:\n\n%(link)s\n\nЕсли это были не вы, ничего делать не нужно."),
    },
    "invoice": {
        "en": ("Invoice 2026-%(code)s is due", "Dear %(name)s,\n\nPlease find attached invoice 2026-%(code)s for %(sum)s. Payment is due within 14 days to the account named in the invoice. You can also view and pay it online: %(link)s\n\nThank you for your business."),
        "de": ("Ihre Rechnung Nr. %(code)s", "Sehr geehrte/r %(name)s,\n\nanbei erhalten Sie die Rechnung Nr. %(code)s über %(sum)s. Bitte überweisen Sie den Betrag innerhalb von 14 Tagen. Die Rechnung finden Sie auch hier: %(link)s"),
        "fr": ("Votre facture n° %(code)s", "Bonjour %(name)s,\n\nVeuillez trouver ci-joint la facture n° %(code)s d'un montant de %(sum)s, à régler sous 14 jours. Elle est aussi disponible ici : %(link)s"),
        "es": ("Factura %(code)s", "Estimado/a %(name)s:\n\nAdjuntamos la factura %(code)s por un importe de %(sum)s, con vencimiento a 14 días. También puede consultarla y pagarla aquí: %(link)s"),
        "ja": ("請求書 %(code)s のご案内", "%(name)s 様\n\n請求書 %(code)s(%(sum)s)をお送りします。14日以内にお支払いください。オンラインでもご覧いただけます。%(link)s"),
        "ru": ("Счёт № %(code)s", "Здравствуйте, %(name)s!\n\nВо вложении счёт № %(code)s на сумму %(sum)s. Просим оплатить его в течение 14 дней. Счёт также доступен по ссылке: %(link)s"),
    },
    "order": {
        "en": ("Thank you for your order #%(code)s", "Hi %(name)s,\n\nWe have received your order #%(code)s. Total: %(sum)s. We will send you a message as soon as it is on its way. See your order: %(link)s"),
        "de": ("Bestellbestätigung %(code)s", "Hallo %(name)s,\n\nvielen Dank für Ihre Bestellung %(code)s. Gesamtbetrag: %(sum)s. Sobald die Ware unterwegs ist, melden wir uns wieder. Zur Bestellung: %(link)s"),
        "fr": ("Confirmation de votre commande %(code)s", "Bonjour %(name)s,\n\nNous avons bien reçu votre commande %(code)s d'un montant de %(sum)s. Suivez-la ici : %(link)s"),
        "es": ("Pedido %(code)s confirmado", "Hola %(name)s:\n\nHemos recibido tu pedido %(code)s por %(sum)s. Te avisaremos cuando salga del almacén. Ver el pedido: %(link)s"),
        "ja": ("ご注文の確認 %(code)s", "%(name)s 様\n\nご注文 %(code)s を承りました。合計 %(sum)s です。発送後に改めてご連絡いたします。%(link)s"),
        "ru": ("Заказ %(code)s принят", "Здравствуйте, %(name)s!\n\nМы получили ваш заказ %(code)s на сумму %(sum)s. Мы сообщим, когда он будет отправлен. Ваш заказ: %(link)s"),
    },
    "shipping": {
        "en": ("Your parcel arrives tomorrow", "Hello %(name)s,\n\nYour parcel %(code)s will be delivered tomorrow between 10:00 and 14:00. Not at home? Choose a neighbour or a parcel shop: %(link)s"),
        "de": ("Ihr Paket kommt morgen", "Hallo %(name)s,\n\nIhr Paket %(code)s wird morgen zwischen 10 und 14 Uhr zugestellt. Nicht zu Hause? Wählen Sie einen Nachbarn oder eine Filiale: %(link)s"),
        "fr": ("Votre colis arrive demain", "Bonjour %(name)s,\n\nVotre colis %(code)s sera livré demain entre 10 h et 14 h. Absent ? Choisissez un voisin ou un point relais : %(link)s"),
        "es": ("Tu paquete llega mañana", "Hola %(name)s:\n\nTu paquete %(code)s se entregará mañana entre las 10 y las 14 horas. ¿No estarás en casa? Elige un vecino o una tienda: %(link)s"),
        "ja": ("お荷物のお届け予定", "%(name)s 様\n\nお荷物 %(code)s は明日10時から14時の間にお届けします。ご不在の場合はこちらから変更できます。%(link)s"),
        "ru": ("Ваша посылка прибудет завтра", "Здравствуйте, %(name)s!\n\nПосылка %(code)s будет доставлена завтра с 10 до 14 часов. Вас не будет дома? Выберите пункт выдачи: %(link)s"),
    },
}
NAMES = {"en": "Joan Miller", "de": "Jürgen Müller", "fr": "Élodie Martin", "es": "Íñigo Núñez",
         "ja": "佐藤花子", "ru": "Анна Иванова"}
FORMS = ("plain", "html", "both", "attachment")
PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"


def part(kind, text):
    coded = base64.encodebytes(text.encode()).decode().replace("\n", "\r\n")
    return f"Content-Type: text/{kind}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n{coded}"


def html(text, link):
    inner = text.replace(link, f'<a href="{link}" style="background:#06c;color:#fff;padding:8px">{link}</a>')
    return (f'<html><body style="font-family:sans-serif"><table width="600"><tr><td>{inner}</td></tr></table>'
            f'<p style="font-size:11px;color:#777">Shop Ltd, 1 High Street</p></body></html>').replace("\n", "<br>\n")


def render(kind, language, form, number):
    """(sender's domain, message without the result)."""
    domain = f"{('mail', 'notify', 'service', 'news')[number % 4]}.shop{number}.example"
    link = f"https://www.shop{number}.example/{kind}?id={number * 7919}"
    values = {"code": 100000 + number * 37 % 900000, "name": NAMES[language], "link": link,
              "sum": f"{number % 90 + 10}.{number % 100:02d} EUR"}
    subject, text = (t % values for t in KINDS[kind][language])
    coded = "=?utf-8?B?" + base64.b64encode(subject.encode()).decode() + "?="
    head = [f"From: Shop {number} <no-reply@{domain}>", "To: someone@our.example", f"Subject: {coded}",
            f"Date: Mon, 23 Nov 2026 {number % 24:02d}:10:00 +0000", f"Message-ID: <{number}.{kind}@{domain}>",
            "MIME-Version: 1.0", "Auto-Submitted: auto-generated"]
    parts = {"plain": [part("plain", text)], "html": [part("html", html(text, link))],
             "both": [part("plain", text), part("html", html(text, link))],
             "attachment": [part("plain", text), "Content-Type: application/pdf; name=document.pdf\r\n"
                            "Content-Disposition: attachment; filename=document.pdf\r\n"
                            "Content-Transfer-Encoding: base64\r\n\r\n" + base64.encodebytes(PDF).decode()]}[form]
    if len(parts) == 1:
        return domain, "\r\n".join(head) + "\r\n" + parts[0]
    sort = "alternative" if form == "both" else "mixed"
    body = "".join(f"--b0\r\n{p}\r\n" for p in parts) + "--b0--\r\n"
    return domain, "\r\n".join(head) + f'\r\nContent-Type: multipart/{sort}; boundary="b0"\r\n\r\n' + body


def result(domain):
    return (f"Authentication-Results: {SERVER}; spf=pass smtp.mailfrom={domain};\r\n"
            f" dkim=pass header.d={domain}; dmarc=pass header.from={domain}\r\n").encode()


class Site:
    """A state folder with lists, and a folder of messages."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.conf = self.folder / "gillnet.conf"
        self.conf.write_text(CONFIG % self.folder, encoding="ascii")
        self.mail = self.folder / "mail"
        self.mail.mkdir()
        for name in ("phish", "malware", "spam"):
            self.run("list", "add", "--create", name, f"domain:{LISTED}", "domain:other-listed.example")

    def run(self, *args):
        return subprocess.run([GILLNET, *args, "-c", str(self.conf)], capture_output=True, text=True, check=False)

    def put(self, name, raw):
        (self.mail / f"{name}.eml").write_bytes(raw)

    def verdicts(self):
        out = self.run("check", "--json", "--rcpt", "someone@our.example", str(self.mail))
        return {pathlib.Path(v["file"]).stem: v for v in map(json.loads, out.stdout.splitlines())}


def of_data():
    """(name, From domain, bytes) of the data folder's messages of these kinds."""
    data = datafolder.folder()
    if not data:
        return
    place = datafolder.needed(data / "mail-modern")
    rows = [r.split("\t") for r in (place / "INDEX.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    for row in rows:
        if row[1] != "ham" or row[5].split("/")[0] not in KINDS_OF_DATA:
            continue
        raw = (place / row[0]).read_bytes()
        parsed = email.parser.BytesParser(policy=email.policy.compat32).parsebytes(raw, headersonly=True)
        address = email.utils.parseaddr(str(parsed.get("From", "")))[1]
        domain = address.rpartition("@")[2]
        if domain and domain.isascii():
            yield pathlib.Path(row[0]).stem, domain, raw


class Protected(unittest.TestCase):
    def judge(self, messages):
        """The marked ones of (name, domain, bytes)."""
        with tempfile.TemporaryDirectory() as folder:
            site = Site(folder)
            for name, domain, raw in messages:
                site.put(name, result(domain) + raw)
            verdicts = site.verdicts()
            self.assertEqual(len(verdicts), len(messages))
            return {n: v["symbols"] for n, v in verdicts.items() if v["action"] != "accept"}, verdicts

    def rendered(self):
        number, found = 0, []
        for kind, languages in KINDS.items():
            for language in languages:
                for form in FORMS:
                    number += 1
                    domain, text = render(kind, language, form, number)
                    found.append((f"{kind}-{language}-{form}", domain, text.encode()))
        return found

    def test_rendered__of_proved_senders__none_is_marked(self):
        messages = self.rendered()
        self.assertGreaterEqual(len(messages), 100)
        marked, verdicts = self.judge(messages)
        self.assertEqual(marked, {})
        self.assertEqual([n for n, v in verdicts.items() if "proved" not in v["identity"]], [])

    def test_rendered__with_a_listed_link__each_is_marked(self):
        messages = [(n, d, raw.replace(b"MIME-Version", f"Reply-To: x@{LISTED}\r\nMIME-Version".encode(), 1))
                    for n, d, raw in self.rendered()]
        marked, _ = self.judge(messages)
        self.assertEqual(len(marked), len(messages))

    def test_data__of_proved_senders__none_is_marked(self):
        messages = list(of_data())
        if not messages:
            self.skipTest("no data folder")
        self.assertGreaterEqual(len(messages), 100)
        marked, _ = self.judge(messages)
        self.assertEqual(marked, {})


if __name__ == "__main__":
    GILLNET = sys.argv.pop(1)
    unittest.main()
