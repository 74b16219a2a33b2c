import HTTPTypes
import Hummingbird

/// The publisher's notify form as an HTML page, which posts to its own address.
enum NotifyFormPage {
    /// Returns the page. It may load nothing and post to itself only, because a password is typed into it.
    static func response(app: String) -> Response {
        var headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
            .contentSecurityPolicy: "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
            .xContentTypeOptions: "nosniff",
        ]
        if let name = HTTPField.Name("referrer-policy") { headers[name] = "no-referrer" }
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(string: Self.html(app))))
    }

    /// Returns the HTML text for an app.
    static func html(_ app: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head><meta charset="utf-8"><title>Notify</title></head>
        <body>
        <h1>A new issue for \(Self.escaped(app))</h1>
        <form method="post" autocomplete="off">
        <p><label>Account <input name="adobeID" required maxlength="256"></label></p>
        <p><label>Password <input name="password" type="password" required maxlength="256"></label></p>
        <p><label>Product id <input name="productId" required maxlength="256"></label></p>
        <p><label>Devices per wave <input name="waveSize" type="number" min="1" \
        value="\(PublisherNotify.defaultWaveSize)"></label></p>
        <p><label>Seconds between waves <input name="waveInterval" type="number" min="1" \
        value="\(PublisherNotify.defaultWaveInterval)"></label></p>
        <p><label>Id, under which a call is accepted only once <input name="Id" maxlength="100"></label></p>
        <p><label><input name="again" type="checkbox" value="1"> Notify once more of an issue</label></p>
        <p><button>Notify</button></p>
        </form>
        </body>
        </html>

        """
    }

    /// Escapes scalar by scalar, as a browser parses: to Swift a `<` after some scalars is part of another character.
    static func escaped(_ text: String) -> String {
        let entities: [UnicodeScalar: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;"]
        return text.unicodeScalars.map { entities[$0] ?? String($0) }.joined()
    }
}
