import Crypto
import Foundation
import PushStore
import PushSupport
import PushTypes

/// Builds the JSON text of a block of events.
///
/// Every event has `id`, by which a receiver recognizes a repetition, `type` and `at` in milliseconds. It has the whole
/// token: that is the receiver's own data, with which it cleans its own tables.
struct WebhookEvents {
    /// The maximum number of events in a block.
    static let maximumCount = 4096

    private(set) var count = 0
    private var json: JSONWriter

    /// - Parameter expected: The number of events to make room for.
    init(expected: Int = 0) { self.json = JSONWriter(capacity: min(max(0, expected), Self.maximumCount) * 400) }

    var isEmpty: Bool { self.count == 0 }
    /// The JSON text, for ``EventBlock/events``.
    var data: Data { Data(self.json.bytes) }

    /// Appends a recipient's final state. Its id is derived from the `apns-id` and the state, so that it is always the same.
    /// - Parameters:
    ///   - apnsID: The `apns-id` of the delivery.
    ///   - recipient: The recipient; `nil` if its device is not known any more, and so its token.
    ///   - notification: The id of the notification.
    mutating func append(_ delivery: DeliveryResult, apnsID: String, to recipient: Recipient?, notification: UUID) {
        self.begin()
        self.json.raw(#"{"id":""#)
        self.json.characters(apnsID[...])
        self.json.raw(".")
        self.json.characters(delivery.state.word[...])
        self.json.raw(#"","type":"delivery","at":"#)
        self.json.integer(delivery.at.milliseconds)
        self.json.raw(#","notification":"#)
        self.json.string(notification.uuidString)
        self.json.raw(#","apnsId":"#)
        self.json.string(apnsID)
        self.device(delivery.device, recipient?.token, recipient?.environment)
        self.json.raw(#","user":"#)
        self.json.string(recipient?.profile?.user)
        self.json.raw(#","state":"#)
        self.json.string(delivery.state.word)
        self.json.raw(#","reason":"#)
        self.json.string(delivery.reason)
        self.json.raw(#","attempts":"#)
        self.json.integer(Int64(delivery.attempts))
        self.json.raw("}")
    }

    /// Appends a change of a token. Its id is derived from all members of the event.
    mutating func append(_ event: TokenEventRecord) {
        self.begin()
        self.json.raw(#"{"id":"#)
        self.json.hexadecimal(Self.id(of: event))
        self.json.raw(#","type":"token","at":"#)
        self.json.integer(event.at.milliseconds)
        self.json.raw(#","action":"#)
        self.json.string(event.action.rawValue)
        self.device(event.device, event.token, event.environment)
        self.json.raw(#","reason":"#)
        self.json.string(event.reason)
        self.json.raw(#","notification":"#)
        self.json.string(event.notification?.uuidString)
        self.json.raw("}")
    }

    private mutating func begin() {
        if !self.isEmpty { self.json.raw(",") }
        self.count += 1
    }

    private mutating func device(_ id: Int64?, _ token: DeviceToken?, _ environment: PushEnvironment?) {
        self.json.raw(#","deviceId":"#)
        self.json.integer(id)
        self.json.raw(#","token":"#)
        if let token { self.json.hexadecimal(token.bytes) } else { self.json.raw("null") }
        self.json.raw(#","environment":"#)
        self.json.string(environment?.rawValue)
    }

    private static func id(of event: TokenEventRecord) -> [UInt8] {
        var hash = SHA256()
        withUnsafeBytes(of: event.device.bigEndian) { hash.update(bufferPointer: $0) }
        withUnsafeBytes(of: event.at.milliseconds.bigEndian) { hash.update(bufferPointer: $0) }
        if let notification = event.notification {
            withUnsafeBytes(of: notification.uuid) { hash.update(bufferPointer: $0) }
        }
        hash.update(data: Data("\(event.action.rawValue)|\(event.environment.rawValue)|\(event.reason ?? "")|".utf8))
        hash.update(data: Data(event.token.bytes))
        return Array(hash.finalize().prefix(16))
    }
}
