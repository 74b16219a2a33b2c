import Crypto
import Foundation
import ProviderModel
import PushSupport
import PushTypes

/// The content of the notification for a publish, with which an XMPP server requests a push (XEP-0357).
struct PublishContent {
    /// The time for which the push service stores an important push for an offline device, in seconds: 7 days.
    private static let importantExpiry: Int64 = 7 * 86_400
    private static let otherExpiry: Int64 = 3600

    let bridge: ConfiguredComponent
    let node: XMPPNodeRecord
    let isImportant: Bool

    /// Returns the notification request for the owner of the node.
    /// - Parameters:
    ///   - tokens: The tokens of the owner's devices.
    ///   - delay: The delay until the push is sent, or zero to send it immediately.
    func request(tokens: [DeviceToken], delay: Duration, now: Timestamp) throws(RequestError) -> NotificationRequest {
        var members: [String: JSONValue] = [
            "to": self.audience(tokens), "payload": .object(self.payload),
            "pushType": .string(self.isImportant ? "alert" : "background"),
            "priority": .integer(self.isImportant ? 10 : 5),
            "collapseId": .string(self.collapseID),
            "expiresIn": .integer(self.isImportant ? Self.importantExpiry : Self.otherExpiry),
        ]
        members["environment"] = self.bridge.environment.map { .string($0.rawValue) }
        members["consentCategory"] = self.bridge.settings.consentCategory.map { .string($0) }
        if delay > .zero { members["when"] = .object(["at": .string(now.advanced(by: delay).rfc3339)]) }
        var request = try NotificationRequest(.object(members), bundleID: self.bridge.bundleID, now: now)
        request.lane = .urgent
        // A message from a person does not count against the cap, which is for campaigns.
        request.consent.ignoresCap = true
        return request
    }

    private func audience(_ tokens: [DeviceToken]) -> JSONValue {
        switch self.node.owner {
        case .user(let user): .object(["user": .string(user)])
        case .installation where tokens.count == 1: .object(["token": .string(tokens[0].hex)])
        case .installation: .object(["or": .array(tokens.map { .object(["token": .string($0.hex)]) })])
        }
    }

    var payload: [String: JSONValue] {
        let settings = self.bridge.settings
        var payload: [String: JSONValue] = [:]
        payload[settings.accountMember] = self.node.account.map { .string($0) }
        guard self.isImportant else {
            payload["aps"] = .object(["content-available": .integer(1)])
            return payload
        }
        var alert: [String: JSONValue] = ["title": .string(settings.title)]
        alert["body"] = settings.body.map { .string($0) }
        payload["aps"] = .object([
            "alert": .object(alert), "sound": .string(settings.sound), "mutable-content": .integer(1),
        ])
        return payload
    }

    /// The collapse id, with which a later push for the same node replaces an earlier one.
    private var collapseID: String { Hexadecimal.encode(SHA256.hash(data: Data(self.node.node.utf8)).prefix(16)) }
}

extension PushPublish {
    /// A Boolean value that indicates whether the user is alerted.
    ///
    /// The server's priority decides. Without a priority, the publish is important if its summary contains a message
    /// body or is encrypted, because only the app can decrypt the summary.
    var isImportant: Bool {
        switch self.priority {
        case .high: true
        case .low: false
        case nil: self.isSummaryEncrypted || self.hasMessageText
        }
    }
}
