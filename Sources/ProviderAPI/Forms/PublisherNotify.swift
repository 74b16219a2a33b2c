import Crypto
import Foundation
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The publisher's notify form (reference 10.1). It wakes every device with Newsstand to load a new issue, in waves so
/// that they do not all load at once.
///
/// The device itself limits background loading to once a day.
struct PublisherNotify: Equatable {
    static let defaultWaveSize: Int64 = 10_000
    /// In seconds.
    static let defaultWaveInterval: Int64 = 300
    /// The longest product id, in bytes.
    private static let maximumProductID = 256

    /// The name of the API key.
    let account: String
    /// The text of the API key.
    let password: String
    let productID: String
    let waveSize: Int64
    /// In seconds.
    let waveInterval: Int64
    /// The field `Id`, which makes a repeated form the same request.
    let id: String?

    /// - Throws: ``RequestError`` that names the form's field.
    init(_ form: FormFields) throws(RequestError) {
        self.account = try Self.text("adobeID", form, maximum: 256)
        self.password = try Self.text("password", form, maximum: 256)
        self.productID = try Self.text("productId", form, maximum: Self.maximumProductID)
        self.waveSize =
            try Self.number("waveSize", form, in: 1...PaceSettings.maximumWave) ?? Self.defaultWaveSize
        self.waveInterval =
            try Self.number("waveInterval", form, in: 1...PaceSettings.maximumInterval) ?? Self.defaultWaveInterval
        self.id = form["Id"].flatMap { $0.isEmpty ? nil : $0 }
        if let id, id.utf8.count > 100 { throw FormFields.error("too_long", "at most 100 bytes", field: "Id") }
    }

    /// The environment of development builds for product ids with the prefix `dev_test.`, else of distributed builds.
    var environment: PushEnvironment { self.productID.hasPrefix("dev_test.") ? .sandbox : .production }

    /// Returns the notification that the form asks for: a background push to every device with Newsstand.
    func request(to topic: Topic) throws -> NotificationRequest {
        let payload: JSONValue = .object([
            "aps": .object(["content-available": .integer(1)]), "productId": .string(self.productID),
        ])
        return NotificationRequest(
            content: NotificationContent(
                topic: topic,
                pushType: .background,
                priority: .powerAware,
                expiration: .servicePolicy,
                collapseID: nil,
                payload: try payload.text
            ),
            audience: .devices(.attribute(name: PublisherRegistration.newsstandAttribute, .equal, .bool(true))),
            environment: self.environment,
            pace: .waves(size: Int(self.waveSize), interval: Int(self.waveInterval))
        )
    }

    /// The fingerprint of everything that the form asks for, to tell a repetition from another call with the same id.
    var fingerprint: [UInt8] {
        Array(SHA256.hash(data: Data("\(self.waveSize) \(self.waveInterval) \(self.productID)".utf8)))
    }

    private static func text(_ name: String, _ form: FormFields, maximum: Int) throws(RequestError) -> String {
        guard let text = form[name], !text.isEmpty else {
            throw FormFields.error("missing_field", "this field is required", field: name)
        }
        guard text.utf8.count <= maximum else {
            throw FormFields.error("too_long", "at most \(maximum) bytes", field: name)
        }
        return text
    }

    private static func number(
        _ name: String,
        _ form: FormFields,
        in range: ClosedRange<Int64>
    ) throws(RequestError) -> Int64? {
        guard let text = form[name], !text.isEmpty else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            let message = "use a number from \(range.lowerBound) to \(range.upperBound)"
            throw FormFields.error("invalid_value", message, field: name)
        }
        return number
    }
}
