import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import ProviderModel
import PushHTTP
import PushProvider
import PushSupport
import PushTypes

/// The publisher's notify form (APNs reference 10.1). The notification wakes every device that supports Newsstand, so
/// that the device downloads a new issue. It is sent in waves, so that devices do not all download at the same time.
/// The system of a device limits background downloads to one a day.
struct PublisherNotify: Equatable {
    /// The number of devices per wave if the form names none.
    static let defaultWaveSize: Int64 = 10_000
    /// The time between two waves, in seconds, if the form names none.
    static let defaultWaveInterval: Int64 = 300

    /// The form field `adobeID`: the name of the API key.
    let account: String
    /// The form field `password`: the API key itself.
    let password: String
    let productID: String
    let waveSize: Int64
    let waveInterval: Int64
    /// A Boolean value that indicates whether the form contains the size of waves or the interval between them. If it
    /// contains neither, an issue that the provider publishes is sent in the waves of its publication.
    let namesWaves: Bool
    /// The form field `again`, a Boolean value that indicates whether devices are notified of an issue that already has
    /// a notification.
    let again: Bool
    /// The form field `Id`, from which the idempotency key is derived, or `nil` without the field. A form with the same
    /// id counts as the same request, and each form without one as a new request.
    let id: String?

    /// Parses the form.
    /// - Throws: ``RequestError`` that names the field at fault.
    init(_ form: FormData) throws(RequestError) {
        self.account = try form.requiredText("adobeID", maximum: 256)
        self.password = try form.requiredText("password", maximum: 256)
        self.productID = try form.requiredText("productId", maximum: 256)
        self.waveSize = try form.number("waveSize", in: 1...PaceSettings.maximumWave) ?? Self.defaultWaveSize
        self.waveInterval =
            try form.number("waveInterval", in: 1...PaceSettings.maximumInterval) ?? Self.defaultWaveInterval
        self.namesWaves = form["waveSize"] != nil || form["waveInterval"] != nil
        self.again = ["1", "true"].contains(form["again"]?.lowercased())
        self.id = try form.text("Id", maximum: 100)
    }

    /// The environment in which the notification is sent: sandbox for product ids with the prefix `dev_test.`, or else
    /// production.
    var environment: PushEnvironment { IssueNotifier.environment(of: self.productID) }

    /// The size and the interval of the form's waves, which replace those of the publication for this notification. If
    /// the form contains neither, there are no changes.
    var changes: PublicationChanges {
        var changes = PublicationChanges()
        if self.namesWaves { (changes.waveSize, changes.waveInterval) = (Int(self.waveSize), Int(self.waveInterval)) }
        return changes
    }

    /// The message id in the push of an issue that the provider publishes: the field `Id` if it is a positive number,
    /// or otherwise `nil`.
    var messageID: Int64? { self.id.flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil } }

    /// Returns the notification that the form requests: a background push to every device that supports Newsstand.
    func request(to topic: Topic) throws -> NotificationRequest {
        let payload: JSONValue = .object([
            "aps": .object(["content-available": .integer(1)]), "productId": .string(self.productID),
        ])
        return NotificationRequest(
            content: try IssueNotifier.content(payload, to: topic),
            audience: .devices(IssueNotifier.audience(account: nil)),
            environment: self.environment,
            pace: .waves(size: Int(self.waveSize), interval: Int(self.waveInterval))
        )
    }

    /// The idempotency key that is derived from the field `Id`, with a hash of the form as its fingerprint, or `nil` if
    /// there is no such field. The fingerprint distinguishes a repetition from a different form with the same id.
    var idempotency: Idempotency? {
        let asked = "\(self.waveSize) \(self.waveInterval) \(self.productID)"
        // Idempotency keys of API callers contain no space, so none equals this one.
        return self.id.map {
            Idempotency(key: "publisher \($0)", fingerprint: Array(SHA256.hash(data: Data(asked.utf8))))
        }
    }
}

/// The publisher's notify form as an HTML page, which submits the form to the URL of the page.
enum NotifyFormPage {
    /// Returns the page. Because it contains a password field, its content security policy forbids loading anything,
    /// and allows the form to be submitted only to the page itself.
    static func response(app: String) -> Response {
        var headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
            .contentSecurityPolicy: "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
            .xContentTypeOptions: "nosniff",
        ]
        if let name = HTTPField.Name("referrer-policy") { headers[name] = "no-referrer" }
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(string: Self.html(app))))
    }

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

    /// Escapes a string for HTML, scalar by scalar, because browsers parse it in this way. In a Swift character, `<`
    /// may be combined with adjacent scalars, and would not be found.
    static func escaped(_ text: String) -> String {
        let entities: [UnicodeScalar: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;"]
        return text.unicodeScalars.map { entities[$0] ?? String($0) }.joined()
    }
}
