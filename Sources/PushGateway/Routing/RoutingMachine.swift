import Foundation
import PushProtocol

/// Decides where a message goes: which devices are connected, what they want, what they have not acknowledged yet.
///
/// No I/O: the store and the connections belong to ``Router``.
struct RoutingMachine: Sendable {
    typealias SessionID = UInt64

    /// What happens to a message now.
    enum Delivery: Hashable, Sendable {
        case send(session: SessionID, message: CourierMessage)
        /// Not connected, topic not wanted, or too much unacknowledged: it waits in the store, if it may be stored.
        case wait
    }

    private struct Session: Sendable {
        var id: SessionID
        var understandsExtensions: Bool
        var enabled: Set<TopicHash> = []
        var unacknowledged: [UInt32: InFlight] = [:]
        var nextMessageID: UInt32 = 1
    }

    struct InFlight: Hashable, Sendable {
        var message: StoredMessage
        var isFromStorage: Bool
    }

    private let unacknowledgedLimit: Int
    private var sessions: [UUID: Session] = [:]

    init(unacknowledgedLimit: Int) {
        self.unacknowledgedLimit = unacknowledgedLimit
    }

    func isOnline(_ device: UUID) -> Bool { self.sessions[device] != nil }

    func session(of device: UUID) -> SessionID? { self.sessions[device]?.id }

    /// The session that the new one replaces: a device has one at most, the newest wins.
    mutating func connected(_ device: UUID, session: SessionID, understandsExtensions: Bool) -> SessionID? {
        let replaced = self.sessions[device]?.id
        self.sessions[device] = Session(id: session, understandsExtensions: understandsExtensions)
        return replaced
    }

    /// Whether `session` was still the device's current one.
    mutating func disconnected(_ device: UUID, session: SessionID) -> Bool {
        guard self.sessions[device]?.id == session else { return false }
        self.sessions[device] = nil
        return true
    }

    /// The devices that were connected.
    mutating func endAllSessions() -> [UUID] {
        defer { self.sessions = [:] }
        return Array(self.sessions.keys)
    }

    /// Whether the filter counts, that is, `session` is the device's current one.
    mutating func subscribed(_ device: UUID, session: SessionID, to topics: [TopicHash]) -> Bool {
        guard self.sessions[device]?.id == session else { return false }
        self.sessions[device]?.enabled = Set(topics)
        return true
    }

    /// - Parameter isFromStorage: a message that is on its way already is not sent twice.
    mutating func deliver(_ message: StoredMessage, isFromStorage: Bool) -> Delivery {
        guard var session = self.sessions[message.device] else { return .wait }
        let topic = TopicHash(message.notification.topic)
        let isOnItsWay = session.unacknowledged.values.contains { $0.message.sequence == message.sequence }
        guard session.enabled.contains(topic), session.unacknowledged.count < self.unacknowledgedLimit, !isOnItsWay
        else { return .wait }
        let id = session.nextMessageID
        session.nextMessageID = id == .max ? 1 : id + 1
        session.unacknowledged[id] = InFlight(message: message, isFromStorage: isFromStorage)
        self.sessions[message.device] = session
        return .send(
            session: session.id,
            message: Self.courierMessage(message, id: id, topic: topic, extensions: session.understandsExtensions)
        )
    }

    /// The message that the device has now; `nil` for an id that is not on its way.
    mutating func acknowledged(_ device: UUID, session: SessionID, messageID: UInt32) -> InFlight? {
        guard self.sessions[device]?.id == session else { return nil }
        return self.sessions[device]?.unacknowledged.removeValue(forKey: messageID)
    }

    private static func courierMessage(
        _ message: StoredMessage,
        id: UInt32,
        topic: TopicHash,
        extensions: Bool
    ) -> CourierMessage {
        let notification = message.notification
        var courier = CourierMessage(
            token: message.token.bytes,
            topic: topic,
            payload: notification.payload,
            messageID: id,
            expiry: message.expiresAt.map { UInt32(clamping: $0.seconds) } ?? 0,
            sentAt: message.acceptedAt
        )
        if extensions {
            courier.apnsID = notification.id
            courier.pushType = notification.pushType?.rawValue
            courier.priority = notification.priority.rawValue
            courier.collapseID = notification.collapseID
        }
        return courier
    }
}
