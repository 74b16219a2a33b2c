import Foundation
import NIOCore
import ProviderModel
import PushTypes
import Synchronization

/// The content of a notification, decoded from its stored form, and the ids of its deliveries.
struct DecodedNotification: Sendable {
    let ids: DeliveryID
    /// The renderer of the payloads, or `nil` if the stored content is damaged.
    let renderer: ContentRenderer?
    /// The common part of all recipients' pushes. Its id is empty, as is a payload that depends on the recipient.
    let base: PushNotification

    init(_ record: NotificationRecord) {
        let content = record.content
        self.ids = DeliveryID(notification: record.id)
        self.renderer = try? ContentRenderer(content, notification: record.id)
        self.base = PushNotification(
            id: "",
            topic: content.topic,
            pushType: content.pushType,
            priority: content.priority,
            expiration: content.expiration,
            collapseID: content.collapseID,
            // Encrypted content is never sent in the clear.
            payload: content.placeholder == nil
                ? self.renderer?.fixed.map { ByteBuffer(bytes: $0) } ?? ByteBuffer() : ByteBuffer()
        )
    }
}

/// Decodes the stored contents of notifications, each once for all claims of its shards and retries.
///
/// The content of a notification does not change once it is accepted. Only templates are cached, as others need no
/// decoding.
final class NotificationDecoder: Sendable {
    /// The maximum number of notifications that are cached. A full cache is emptied.
    private static let maximumCount = 1024
    /// The maximum total size of the stored contents of all cached notifications, in bytes. A full cache is emptied.
    private static let maximumSize = 32 * 1024 * 1024

    private struct State {
        var known: [UUID: DecodedNotification] = [:]
        var size = 0
    }

    private let state = Mutex(State())

    func decode(_ record: NotificationRecord) -> DecodedNotification {
        guard record.content.isTemplate else { return DecodedNotification(record) }
        if let known = self.state.withLock({ $0.known[record.id] }) { return known }
        let decoded = DecodedNotification(record)
        let size = record.content.payload.count
        self.state.withLock { state in
            if state.known.count >= Self.maximumCount || state.size + size > Self.maximumSize { state = State() }
            if state.known.updateValue(decoded, forKey: record.id) == nil { state.size += size }
        }
        return decoded
    }
}
