import Crypto
import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTypes

/// Encodes events as the JSON text of a block.
///
/// Every event has an `id` by which a receiver recognizes a repetition, a `type`, and the time `at` in milliseconds.
/// Events contain whole tokens, because receivers use them to clean up their own tables.
struct WebhookEventEncoder {
    /// The maximum number of events in a block. The dispatcher's pages are limited to as many recipients.
    static let maximumCount = 4096

    private(set) var count = 0
    private var json: JSONWriter

    /// Creates an encoder of an empty block. `expected` is the number of events for which memory is reserved.
    init(expected: Int = 0) { self.json = JSONWriter(capacity: min(max(0, expected), Self.maximumCount) * 400) }

    var isEmpty: Bool { self.count == 0 }
    /// The JSON text of the block, for ``EventBlock/events``.
    var data: Data { Data(self.json.bytes) }

    /// Appends a recipient's final state. The event's id is always the same, derived from the `apns-id` and the state.
    /// - Parameters:
    ///   - apnsID: The `apns-id` of the delivery.
    ///   - recipient: The recipient, or `nil` if its device and token are no longer known.
    ///   - channel: The channel of a broadcast, which has no token, or `nil` for a notification to devices.
    ///   - notification: The id of the notification.
    mutating func append(
        _ delivery: DeliveryResult,
        apnsID: String,
        to recipient: Recipient?,
        channel: ChannelID? = nil,
        notification: UUID
    ) {
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
        self.device(delivery.device, channel == nil ? recipient?.token : nil, recipient?.environment)
        if let channel {
            self.json.raw(#","channel":"#)
            self.json.string(channel.text)
        }
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

    /// Appends a change of a token. The event's id is derived from all its members.
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

    /// Appends the announcement of a certificate's expiry. The event's id is derived from certificate and stage.
    /// - Parameters:
    ///   - fingerprint: The SHA-256 of the certificate, in hexadecimal.
    ///   - stage: The number of days before expiry at which it is announced, or 0 for a certificate that has expired.
    mutating func append(
        endOf fingerprint: String,
        in environment: PushEnvironment,
        expires: Timestamp,
        stage: Int,
        at: Timestamp
    ) {
        self.begin()
        self.json.raw(#"{"id":"#)
        self.json.string("\(fingerprint.prefix(32)).\(environment.rawValue).\(stage)")
        self.json.raw(#","type":"credential","at":"#)
        self.json.integer(at.milliseconds)
        self.json.raw(#","action":"#)
        self.json.string(stage == 0 ? "expired" : "expiring")
        self.json.raw(#","environment":"#)
        self.json.string(environment.rawValue)
        self.json.raw(#","days":"#)
        self.json.integer(Int64(stage))
        self.json.raw(#","expiresAt":"#)
        self.json.string(expires.rfc3339)
        self.json.raw("}")
    }

    enum EnvironmentAction: String, Hashable, Sendable {
        case paused, resumed
    }

    /// Appends the start or the end of an environment's pause. The event's id is derived from the pause and the action.
    mutating func append(_ action: EnvironmentAction, _ pause: EnvironmentPause, at: Timestamp) {
        let (environment, fault) = (pause.target.environment, pause.fault)
        self.begin()
        self.json.raw(#"{"id":""#)
        self.json.integer(pause.target.app)
        self.json.raw(".")
        self.json.characters(environment.rawValue[...])
        self.json.raw(".")
        self.json.integer(pause.since.milliseconds)
        self.json.raw(".")
        self.json.characters(action.rawValue[...])
        self.json.raw(#"","type":"environment","at":"#)
        self.json.integer(at.milliseconds)
        self.json.raw(#","action":"#)
        self.json.string(action.rawValue)
        self.json.raw(#","environment":"#)
        self.json.string(environment.rawValue)
        self.json.raw(#","cause":"#)
        self.json.string(fault.cause.rawValue)
        self.json.raw(#","reason":"#)
        self.json.string(fault.description)
        self.json.raw(#","host":"#)
        self.json.string(fault.host)
        self.json.raw(#","port":"#)
        self.json.integer(fault.port.map(Int64.init))
        self.json.raw(#","since":"#)
        self.json.integer(pause.since.milliseconds)
        self.json.raw("}")
    }

    /// Appends a receipt. The event's id consists of the notification's id and the id that the sender gave the receipt.
    mutating func append(_ news: NewReceipt) {
        let record = news.record
        self.begin()
        self.json.raw(#"{"id":""#)
        self.json.characters(news.notification.uuidString[...])
        self.json.raw(".")
        self.json.characters(news.id.uuidString[...])
        self.json.raw(#"","type":"receipt","at":"#)
        self.json.integer(record.at.milliseconds)
        self.json.raw(#","event":"#)
        self.json.string(record.event.word)
        self.json.raw(#","action":"#)
        self.json.string(record.action)
        self.json.raw(#","source":"#)
        self.json.string(record.source.word)
        self.json.raw(#","notification":"#)
        self.json.string(news.notification.uuidString)
        self.json.raw(#","apnsId":"#)
        self.json.string(news.recipient.map { DeliveryID(notification: news.notification).text(recipient: $0) })
        self.device(record.device, news.token, news.environment)
        self.json.raw(#","user":"#)
        self.json.string(news.user)
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
