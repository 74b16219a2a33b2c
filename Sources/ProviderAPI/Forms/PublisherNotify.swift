import Crypto
import Foundation
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The publisher's notify form (reference 10.1): a new issue is there, every device with Newsstand is woken to load it,
/// in waves so that they do not all come at once.
///
/// That a device loads in the background once a day at most is kept by the device, not here.
struct PublisherNotify: Equatable {
    static let defaultWaveSize: Int64 = 10_000
    /// In seconds.
    static let defaultWaveInterval: Int64 = 300
    private static let longestProduct = 256

    /// The account, which is the name of the API key that ``password`` is.
    let account: String
    let password: String
    let productID: String
    let waveSize: Int64
    /// In seconds.
    let waveInterval: Int64
    /// The field `Id`: the same call with the same id is accepted once.
    let id: String?

    /// - Throws: ``RequestError`` that names the form's field.
    init(_ form: FormFields) throws(RequestError) {
        self.account = try Self.text("adobeID", form, longest: 256)
        self.password = try Self.text("password", form, longest: 256)
        self.productID = try Self.text("productId", form, longest: Self.longestProduct)
        self.waveSize =
            try Self.number("waveSize", form, in: 1...PaceSettings.maximumWave) ?? Self.defaultWaveSize
        self.waveInterval =
            try Self.number("waveInterval", form, in: 1...PaceSettings.maximumInterval) ?? Self.defaultWaveInterval
        self.id = form["Id"].flatMap { $0.isEmpty ? nil : $0 }
        if let id, id.utf8.count > 100 { throw FormFields.refusal("too_long", "at most 100 bytes", field: "Id") }
    }

    /// Product ids that begin so go to development builds, all others to distributed ones.
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

    private static func text(_ name: String, _ form: FormFields, longest: Int) throws(RequestError) -> String {
        guard let text = form[name], !text.isEmpty else {
            throw FormFields.refusal("missing_field", "this field is required", field: name)
        }
        guard text.utf8.count <= longest else {
            throw FormFields.refusal("too_long", "at most \(longest) bytes", field: name)
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
            throw FormFields.refusal("invalid_value", message, field: name)
        }
        return number
    }
}
