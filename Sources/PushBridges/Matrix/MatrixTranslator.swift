import Crypto
import Foundation
import ProviderModel
import PushTypes

/// Decides what happens to each device of a Matrix notification, without I/O. It creates one plan per device from the
/// configured apps, the notification and the time.
struct MatrixTranslator: Sendable {
    /// The time after which a push is no longer delivered. Homeservers repeat a notification for the same time.
    private static let lifetime: Duration = .seconds(24 * 3600)
    /// The maximum length of a payload that is written into the ledger, in bytes. A shorter payload may still be too
    /// long for the push service, which then rejects it.
    static let maximumKept = 32 * 1024
    /// The maximum length of a room id that can be used as a collapse id, in bytes (reference 1.5). A longer one is
    /// hashed.
    private static let maximumCollapseID = 64

    /// The plan for one device of a Matrix notification.
    enum Plan: Hashable, Sendable {
        /// Sends a push, whose payload is not encoded yet.
        case push(MatrixPush)
        /// Forwards the homeserver's body to a UnifiedPush endpoint.
        case forward(app: MatrixApp)
        /// Rejects the pushkey in the response, so that the homeserver removes it.
        case reject(Rejection)
        /// Sends nothing without rejecting the pushkey, because there is nothing to show or the app wants no numbers.
        case nothing

        var isForwarded: Bool { if case .forward = self { true } else { false } }
    }

    /// The reasons for rejecting a pushkey without sending a push.
    enum Rejection: String, Hashable, Sendable {
        case unknownApp = "no bridge has this app_id"
        case noToken = "the pushkey is no device token"
        case inactive = "the token is inactive"
        case unknownEndpoint = "the endpoint does not exist any more"
    }

    let apps: MatrixAppDirectory
    /// A Boolean value that indicates whether the gateway forwards notifications to pushkeys that are UnifiedPush
    /// addresses.
    var forwardsAddresses = false

    /// Returns the plan for a device.
    /// - Throws: ``MatrixError`` with a status after which the homeserver repeats the request.
    func plan(_ device: MatrixDevice, of notification: MatrixNotification, now: Timestamp) throws(MatrixError) -> Plan {
        let app: MatrixApp
        switch self.apps.match(device.appID) {
        case .none: return .reject(.unknownApp)
        case .ambiguous: throw .misconfigured("several bridges match this app_id: make one with exactly this name")
        case .damaged: throw .misconfigured("the bridge of this app_id cannot be read: 'martlet check' names it")
        case .app(let found): app = found
        }
        if app.settings.unifiedPush, self.forwardsAddresses, MatrixPushkey.isAddress(device.pushkey) {
            return .forward(app: app)
        }
        guard let token = MatrixPushkey.token(device.pushkey) else { return .reject(.noToken) }
        guard app.hasCredential else { throw .misconfigured("the app of this app_id has no credential") }
        guard let payload = MatrixPayload(notification, for: device, app.settings) else {
            return .nothing
        }
        let pushType = payload.pushType
        return .push(
            MatrixPush(
                app: app,
                token: token,
                since: device.since ?? Timestamp(milliseconds: .min),
                pushType: pushType,
                priority: notification.isUrgent && pushType == .alert ? .immediate : .powerAware,
                expiration: .at(seconds: now.advanced(by: Self.lifetime).seconds),
                collapseID: Self.collapseID(notification, device, app),
                content: payload,
                idempotency: notification.eventID.map { Self.idempotency(event: $0, token, app) }
            )
        )
    }

    /// Returns the collapse id: `badge` for numbers of unread messages, the room's id or its hash if the app collapses
    /// its notifications, and otherwise `nil`.
    private static func collapseID(_ notification: MatrixNotification, _ device: MatrixDevice, _ app: MatrixApp)
        -> String?
    {
        guard notification.eventID != nil || notification.type != nil else { return "badge" }
        guard app.settings.collapse || device.collapses, let room = notification.roomID else { return nil }
        let isShort = room.utf8.count <= Self.maximumCollapseID && room.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        return isShort ? room : Hexadecimal.encode(SHA256.hash(data: Data(room.utf8)).prefix(16))
    }

    /// Returns the idempotency key of a push. It does not depend on the numbers of unread messages, which may have
    /// changed when a homeserver repeats an event.
    private static func idempotency(event: String, _ token: DeviceToken, _ app: MatrixApp) -> Idempotency {
        var hash = SHA256()
        let (length, environment) = (UInt16(clamping: token.bytes.count), UInt8(app.environment == .sandbox ? 1 : 0))
        hash.update(data: [UInt8(length >> 8), UInt8(length & 255), environment])
        hash.update(data: token.bytes)
        hash.update(data: Array(event.utf8))
        let digest = Array(hash.finalize())
        // Idempotency keys of API callers contain no space.
        return Idempotency(key: "matrix \(Hexadecimal.encode(digest.prefix(16)))", fingerprint: digest)
    }
}

struct MatrixPush: Hashable, Sendable {
    let app: MatrixApp
    let token: DeviceToken
    /// The time at which the homeserver learned the token, or the earliest representable time if that is unknown. A
    /// token that has become invalid since then is rejected.
    let since: Timestamp
    let pushType: PushType
    let priority: Priority
    let expiration: Expiration
    let collapseID: String?
    let content: MatrixPayload
    /// The idempotency key, or `nil` for a push without an event.
    let idempotency: Idempotency?

    /// Returns the encoded payload, or `nil` if it is too long to be written into the ledger.
    func payload() -> Data? {
        guard let text = try? self.content.text(maximum: self.pushType.maximumPayloadSize),
            text.count <= MatrixTranslator.maximumKept
        else { return nil }
        return Data(text)
    }
}
