#!/usr/bin/env python3
"""Login codes, invoices and notices of proved senders are not marked, whatever else is configured.

Usage: test_protected.py GILLNET

The messages are rendered here: KINDS in twelve languages, in the forms that programs send. Where there is a
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
        "pt": ("O seu código de acesso: %(code)s", "Olá %(name)s,\n\nO seu código de verificação é %(code)s e expira em 10 minutos. Não o partilhe com ninguém. Se não foi você, altere a palavra-passe em %(link)s"),
        "it": ("Codice di verifica %(code)s", "Ciao %(name)s,\n\nil tuo codice di accesso è %(code)s e scade tra 10 minuti. Non comunicarlo a nessuno. Se non sei stato tu, cambia la password qui: %(link)s"),
        "nl": ("Je inlogcode is %(code)s", "Hallo %(name)s,\n\nGebruik code %(code)s om in te loggen. De code is tien minuten geldig. Deel deze met niemand. Was jij dit niet? Wijzig je wachtwoord: %(link)s"),
        "pl": ("Kod logowania: %(code)s", "Dzień dobry %(name)s,\n\nTwój kod weryfikacyjny to %(code)s. Jest ważny 10 minut. Nie podawaj go nikomu. Jeśli to nie Ty, zmień hasło: %(link)s"),
        "tr": ("Doğrulama kodunuz: %(code)s", "Merhaba %(name)s,\n\nGiriş kodunuz %(code)s. Kod 10 dakika geçerlidir. Bu kodu kimseyle paylaşmayın. Siz değilseniz parolanızı değiştirin: %(link)s"),
        "zh": ("您的验证码：%(code)s", "%(name)s，您好：\n\n您的登录验证码是 %(code)s，10 分钟内有效。请勿向任何人透露此验证码。如非本人操作，请修改密码：%(link)s"),
    },
    "password": {
        "en": ("Reset your password", "Hi %(name)s,\n\nWe received a request to reset the password of your account. Click the link below to choose a new password. The link expires in one hour.\n\n%(link)s\n\nIf you did not request this, please ignore this message."),
        "de": ("Kennwort zurücksetzen", "Hallo %(name)s,\n\nfür Ihr Konto wurde ein neues Kennwort angefordert. Klicken Sie auf diesen Link, er gilt eine Stunde:\n\n%(link)s\n\nWenn Sie das nicht waren, ist nichts weiter zu tun."),
        "fr": ("Réinitialisation de votre mot de passe", "Bonjour %(name)s,\n\nPour choisir un nouveau mot de passe, cliquez sur ce lien valable une heure :\n\n%(link)s\n\nSi vous n'avez rien demandé, ignorez ce message."),
        "es": ("Restablece tu contraseña", "Hola %(name)s:\n\nHemos recibido una solicitud para restablecer tu contraseña. Haz clic en el enlace, válido durante una hora:\n\n%(link)s\n\nSi no la has pedido, ignora este mensaje."),
        "ja": ("パスワードの再設定", "%(name)s 様\n\nパスワード再設定のお申し込みを受け付けました。1時間以内に次のリンクから新しいパスワードを設定してください。\n\n%(link)s\n\nお心当たりのない場合は破棄してください。"),
        "ru": ("Сброс пароля", "Здравствуйте, %(name)s!\n\nВы запросили сброс пароля. Перейдите по ссылке, она действует один час:\n\n%(link)s\n\nЕсли это были не вы, ничего делать не нужно."),
        "pt": ("Redefinir a palavra-passe", "Olá %(name)s,\n\nRecebemos um pedido para redefinir a palavra-passe da sua conta. Clique na ligação, válida durante uma hora:\n\n%(link)s\n\nSe não fez este pedido, ignore esta mensagem."),
        "it": ("Reimposta la password", "Ciao %(name)s,\n\nabbiamo ricevuto una richiesta di nuova password per il tuo account. Fai clic sul collegamento entro un'ora:\n\n%(link)s\n\nSe non l'hai chiesta tu, ignora questo messaggio."),
        "nl": ("Wachtwoord opnieuw instellen", "Hallo %(name)s,\n\nVoor je account is een nieuw wachtwoord aangevraagd. Klik binnen een uur op deze link:\n\n%(link)s\n\nHeb je dit niet gedaan, dan hoef je niets te doen."),
        "pl": ("Resetowanie hasła", "Dzień dobry %(name)s,\n\nOtrzymaliśmy prośbę o zmianę hasła. Kliknij link, który jest ważny przez godzinę:\n\n%(link)s\n\nJeśli to nie Ty, zignoruj tę wiadomość."),
        "tr": ("Parolanızı sıfırlayın", "Merhaba %(name)s,\n\nHesabınız için parola sıfırlama isteği aldık. Bir saat geçerli olan bağlantıya tıklayın:\n\n%(link)s\n\nBu isteği siz yapmadıysanız bu iletiyi yok sayın."),
        "zh": ("重置您的密码", "%(name)s，您好：\n\n我们收到了重置您账户密码的请求。请在一小时内点击以下链接：\n\n%(link)s\n\n如果不是您本人的请求，请忽略此邮件。"),
    },
    "invoice": {
        "en": ("Invoice 2026-%(code)s is due", "Dear %(name)s,\n\nPlease find attached invoice 2026-%(code)s for %(sum)s. Payment is due within 14 days to the account named in the invoice. You can also view and pay it online: %(link)s\n\nThank you for your business."),
        "de": ("Ihre Rechnung Nr. %(code)s", "Sehr geehrte/r %(name)s,\n\nanbei erhalten Sie die Rechnung Nr. %(code)s über %(sum)s. Bitte überweisen Sie den Betrag innerhalb von 14 Tagen. Die Rechnung finden Sie auch hier: %(link)s"),
        "fr": ("Votre facture n° %(code)s", "Bonjour %(name)s,\n\nVeuillez trouver ci-joint la facture n° %(code)s d'un montant de %(sum)s, à régler sous 14 jours. Elle est aussi disponible ici : %(link)s"),
        "es": ("Factura %(code)s", "Estimado/a %(name)s:\n\nAdjuntamos la factura %(code)s por un importe de %(sum)s, con vencimiento a 14 días. También puede consultarla y pagarla aquí: %(link)s"),
        "ja": ("請求書 %(code)s のご案内", "%(name)s 様\n\n請求書 %(code)s(%(sum)s)をお送りします。14日以内にお支払いください。オンラインでもご覧いただけます。%(link)s"),
        "ru": ("Счёт № %(code)s", "Здравствуйте, %(name)s!\n\nВо вложении счёт № %(code)s на сумму %(sum)s. Просим оплатить его в течение 14 дней. Счёт также доступен по ссылке: %(link)s"),
        "pt": ("Fatura n.º %(code)s", "Caro(a) %(name)s,\n\nSegue em anexo a fatura n.º %(code)s no valor de %(sum)s, a pagar no prazo de 14 dias. Também a pode consultar aqui: %(link)s"),
        "it": ("Fattura n. %(code)s", "Gentile %(name)s,\n\nin allegato trova la fattura n. %(code)s di %(sum)s, con scadenza a 14 giorni. Può consultarla e pagarla anche qui: %(link)s"),
        "nl": ("Factuur %(code)s", "Beste %(name)s,\n\nBijgaand vind je factuur %(code)s van %(sum)s. Betaal het bedrag binnen 14 dagen. De factuur staat ook hier: %(link)s"),
        "pl": ("Faktura nr %(code)s", "Szanowni Państwo, %(name)s,\n\nw załączeniu faktura nr %(code)s na kwotę %(sum)s z terminem płatności 14 dni. Fakturę można też pobrać tutaj: %(link)s"),
        "tr": ("%(code)s numaralı faturanız", "Sayın %(name)s,\n\n%(sum)s tutarındaki %(code)s numaralı faturanız ektedir. Lütfen 14 gün içinde ödeyiniz. Faturayı buradan da görebilirsiniz: %(link)s"),
        "zh": ("发票 %(code)s", "%(name)s，您好：\n\n随信附上发票 %(code)s，金额 %(sum)s，请于 14 天内付款。您也可以在线查看并支付：%(link)s"),
    },
    "order": {
        "en": ("Thank you for your order #%(code)s", "Hi %(name)s,\n\nWe have received your order #%(code)s. Total: %(sum)s. We will send you a message as soon as it is on its way. See your order: %(link)s"),
        "de": ("Bestellbestätigung %(code)s", "Hallo %(name)s,\n\nvielen Dank für Ihre Bestellung %(code)s. Gesamtbetrag: %(sum)s. Sobald die Ware unterwegs ist, melden wir uns wieder. Zur Bestellung: %(link)s"),
        "fr": ("Confirmation de votre commande %(code)s", "Bonjour %(name)s,\n\nNous avons bien reçu votre commande %(code)s d'un montant de %(sum)s. Suivez-la ici : %(link)s"),
        "es": ("Pedido %(code)s confirmado", "Hola %(name)s:\n\nHemos recibido tu pedido %(code)s por %(sum)s. Te avisaremos cuando salga del almacén. Ver el pedido: %(link)s"),
        "ja": ("ご注文の確認 %(code)s", "%(name)s 様\n\nご注文 %(code)s を承りました。合計 %(sum)s です。発送後に改めてご連絡いたします。%(link)s"),
        "ru": ("Заказ %(code)s принят", "Здравствуйте, %(name)s!\n\nМы получили ваш заказ %(code)s на сумму %(sum)s. Мы сообщим, когда он будет отправлен. Ваш заказ: %(link)s"),
        "pt": ("Encomenda %(code)s confirmada", "Olá %(name)s,\n\nRecebemos a sua encomenda %(code)s. Total: %(sum)s. Avisamos quando for enviada. Ver a encomenda: %(link)s"),
        "it": ("Conferma dell'ordine %(code)s", "Ciao %(name)s,\n\nabbiamo ricevuto il tuo ordine %(code)s di %(sum)s. Ti scriveremo quando sarà spedito. Vedi l'ordine: %(link)s"),
        "nl": ("Bedankt voor je bestelling %(code)s", "Hallo %(name)s,\n\nWe hebben je bestelling %(code)s ontvangen. Totaal: %(sum)s. Je hoort van ons zodra die onderweg is. Bekijk de bestelling: %(link)s"),
        "pl": ("Potwierdzenie zamówienia %(code)s", "Dzień dobry %(name)s,\n\nprzyjęliśmy zamówienie %(code)s na kwotę %(sum)s. Powiadomimy o wysyłce. Zobacz zamówienie: %(link)s"),
        "tr": ("Siparişiniz alındı: %(code)s", "Merhaba %(name)s,\n\n%(sum)s tutarındaki %(code)s numaralı siparişinizi aldık. Kargoya verildiğinde size haber vereceğiz. Siparişiniz: %(link)s"),
        "zh": ("订单 %(code)s 已确认", "%(name)s，您好：\n\n我们已收到您的订单 %(code)s，合计 %(sum)s。发货后我们会再通知您。查看订单：%(link)s"),
    },
    "shipping": {
        "en": ("Your parcel arrives tomorrow", "Hello %(name)s,\n\nYour parcel %(code)s will be delivered tomorrow between 10:00 and 14:00. Not at home? Choose a neighbour or a parcel shop: %(link)s"),
        "de": ("Ihr Paket kommt morgen", "Hallo %(name)s,\n\nIhr Paket %(code)s wird morgen zwischen 10 und 14 Uhr zugestellt. Nicht zu Hause? Wählen Sie einen Nachbarn oder eine Filiale: %(link)s"),
        "fr": ("Votre colis arrive demain", "Bonjour %(name)s,\n\nVotre colis %(code)s sera livré demain entre 10 h et 14 h. Absent ? Choisissez un voisin ou un point relais : %(link)s"),
        "es": ("Tu paquete llega mañana", "Hola %(name)s:\n\nTu paquete %(code)s se entregará mañana entre las 10 y las 14 horas. ¿No estarás en casa? Elige un vecino o una tienda: %(link)s"),
        "ja": ("お荷物のお届け予定", "%(name)s 様\n\nお荷物 %(code)s は明日10時から14時の間にお届けします。ご不在の場合はこちらから変更できます。%(link)s"),
        "ru": ("Ваша посылка прибудет завтра", "Здравствуйте, %(name)s!\n\nПосылка %(code)s будет доставлена завтра с 10 до 14 часов. Вас не будет дома? Выберите пункт выдачи: %(link)s"),
        "pt": ("A sua encomenda chega amanhã", "Olá %(name)s,\n\nA encomenda %(code)s será entregue amanhã entre as 10 e as 14 horas. Não está em casa? Escolha um vizinho ou uma loja: %(link)s"),
        "it": ("Il tuo pacco arriva domani", "Ciao %(name)s,\n\nil pacco %(code)s sarà consegnato domani tra le 10 e le 14. Non sei in casa? Scegli un vicino o un punto di ritiro: %(link)s"),
        "nl": ("Je pakket komt morgen", "Hallo %(name)s,\n\nJe pakket %(code)s wordt morgen tussen 10 en 14 uur bezorgd. Niet thuis? Kies je buren of een afhaalpunt: %(link)s"),
        "pl": ("Paczka dotrze jutro", "Dzień dobry %(name)s,\n\npaczka %(code)s zostanie doręczona jutro między 10 a 14. Nie będzie Cię w domu? Wybierz sąsiada albo punkt odbioru: %(link)s"),
        "tr": ("Kargonuz yarın geliyor", "Merhaba %(name)s,\n\n%(code)s numaralı kargonuz yarın 10 ile 14 arasında teslim edilecek. Evde değil misiniz? Komşunuzu ya da bir şubeyi seçin: %(link)s"),
        "zh": ("您的包裹明天送达", "%(name)s，您好：\n\n包裹 %(code)s 将于明天 10 点至 14 点送达。不在家？请选择邻居代收或自提点：%(link)s"),
    },
}
NAMES = {"en": "Joan Miller", "de": "Jürgen Müller", "fr": "Élodie Martin", "es": "Íñigo Núñez",
         "ja": "佐藤花子", "ru": "Анна Иванова", "pt": "João Conceição", "it": "Niccolò Rossi",
         "nl": "Noortje de Vries", "pl": "Łukasz Wiśniewski", "tr": "Ayşe Yılmaz", "zh": "王小明"}
# provider: sent and counted by a provider of newsletters, whose names stand in the links, the Message-ID
# and the envelope; with a hidden preview and a picture of one pixel
FORMS = ("plain", "html", "both", "attachment", "provider")
PROVIDER = "sendfast.example"
PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"


def part(kind, text):
    coded = base64.encodebytes(text.encode()).decode().replace("\n", "\r\n")
    return f"Content-Type: text/{kind}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n{coded}"


def html(text, link):
    inner = text.replace(link, f'<a href="{link}" style="background:#06c;color:#fff;padding:8px">{link}</a>')
    return (f'<html><body style="font-family:sans-serif"><table width="600"><tr><td>{inner}</td></tr></table>'
            f'<p style="font-size:11px;color:#777">Shop Ltd, 1 High Street</p></body></html>').replace("\n", "<br>\n")


def preview(text, number):
    return (f'<div style="display:none;font-size:1px;max-height:0">{text[:60]}</div>'
            f'<img src="https://open.{PROVIDER}/o/{number * 104729}.gif" width="1" height="1" alt="">')


def render(kind, language, form, number):
    """(sender's domain, message without the result)."""
    domain = f"{('mail', 'notify', 'service', 'news')[number % 4]}.shop{number}.example"
    link = f"https://www.shop{number}.example/{kind}?id={number * 7919}"
    is_provided = form == "provider"
    server = f"mail.{PROVIDER}" if is_provided else domain
    if is_provided:
        link = f"https://click.{PROVIDER}/ls/click?upn={number * 15485863:x}"
    values = {"code": 100000 + number * 37 % 900000, "name": NAMES[language], "link": link,
              "sum": f"{number % 90 + 10}.{number % 100:02d} EUR"}
    subject, text = (t % values for t in KINDS[kind][language])
    coded = "=?utf-8?B?" + base64.b64encode(subject.encode()).decode() + "?="
    head = [f"From: Shop {number} <no-reply@{domain}>", "To: someone@our.example", f"Subject: {coded}",
            f"Date: Mon, 23 Nov 2026 {number % 24:02d}:10:00 +0000", f"Message-ID: <{number}.{kind}@{server}>",
            "MIME-Version: 1.0", "Auto-Submitted: auto-generated"]
    if is_provided:
        head[:0] = [f"Return-Path: <bounces+{number}@em.{PROVIDER}>"]
        head += [f"Reply-To: help@shop{number}.example", f"List-Unsubscribe: <https://click.{PROVIDER}/u/{number}>"]
    parts = {"plain": [part("plain", text)], "html": [part("html", html(text, link))],
             "both": [part("plain", text), part("html", html(text, link))],
             "provider": [part("plain", text), part("html", preview(text, number) + html(text, link))],
             "attachment": [part("plain", text), "Content-Type: application/pdf; name=document.pdf\r\n"
                            "Content-Disposition: attachment; filename=document.pdf\r\n"
                            "Content-Transfer-Encoding: base64\r\n\r\n" + base64.encodebytes(PDF).decode()]}[form]
    if len(parts) == 1:
        return domain, "\r\n".join(head) + "\r\n" + parts[0]
    sort = "mixed" if form == "attachment" else "alternative"
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
        self.assertEqual(len(messages), 12 * len(KINDS) * len(FORMS))
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
