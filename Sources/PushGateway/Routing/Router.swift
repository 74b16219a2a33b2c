import Foundation
import GRDB
import Logging
import PushProtocol

/// The core behind all doors: takes accepted pushes, keeps them, hands them to connected devices.
///
/// Everything for one push, one filter or one acknowledgement happens in one turn of the actor, store included, so that
/// what is stored and what is on its way never disagree. A push that may be stored is on disk before it is answered.
actor Router {
    /// How a session's connection is reached.
    struct Link: Sendable {
        var send: @Sendable (CourierPacket) -> Void
        var close: @Sendable () -> Void
    }

    /// Expired messages removed in one go.
    private static let expiryBatch = 500

    private let database: any DatabaseWriter
    private let registry: Registry
    private let time: any TimeSource
    private let logger: Logger
    private let eventsPerDevice: Int
    private var machine: RoutingMachine
    private var links: [RoutingMachine.SessionID: Link] = [:]
    private var lastSession: RoutingMachine.SessionID = 0
    private var lastSequence: Int64
    /// Since events were last trimmed.
    private var devicesWithNewEvents: Set<UUID> = []

    init(
        database: any DatabaseWriter,
        registry: Registry,
        limits: GatewayConfiguration.Limits,
        time: any TimeSource,
        logger: Logger
    ) throws {
        self.database = database
        self.registry = registry
        self.time = time
        self.logger = logger
        self.eventsPerDevice = limits.eventsPerDevice
        self.machine = RoutingMachine(unacknowledgedLimit: limits.unacknowledged)
        self.lastSequence = try database.read { try MessageTable(database: $0).lastSequence() }
    }

    func isOnline(_ device: UUID) -> Bool { self.machine.isOnline(device) }

    /// Delivers, stores or discards a push. When it returns, the push may be answered with 200.
    func submit(_ push: AcceptedPush) throws {
        let now = self.time.now
        self.lastSequence += 1
        let end = push.notification.expiration.storageEnd(acceptedAt: now)
        let message = StoredMessage(
            sequence: self.lastSequence,
            device: push.device,
            token: push.token,
            notification: push.notification,
            acceptedAt: now,
            expiresAt: end
        )
        let isExpired = end.map { $0 <= now } ?? false
        if let end, !isExpired {
            try self.write { database in
                var events = [Event(.received, message, time: now)]
                if let replaced = try MessageTable(database: database).put(message, expiresAt: end) {
                    let topic = message.notification.topic
                    events.append(Event(.replaced, device: message.device, time: now, topic: topic, apnsID: replaced))
                }
                try self.append(events, in: database)
            }
        } else {
            try self.record([Event(.received, message, time: now)])
        }
        if isExpired { return try self.record([Event(.expired, message, time: now)]) }
        switch self.machine.deliver(message, isFromStorage: false) {
        case .send(let session, let courierMessage):
            self.links[session]?.send(courierMessage.packet)
        case .wait:
            try self.record([Event(end == nil ? .offlineNotStored : .stored, message, time: now)])
        }
    }

    /// A push to a token that is gone: an event, for whoever looks for it.
    func refusedUnregistered(device: UUID, topic: TopicHash, apnsID: String) throws {
        let name = self.registry.topic(for: topic)
        try self.record([Event(.unregistered, device: device, time: self.time.now, topic: name, apnsID: apnsID)])
    }

    /// A device has proved who it is. Its earlier session, if there is one, is closed.
    func connected(_ device: UUID, understandsExtensions: Bool, link: Link) throws -> RoutingMachine.SessionID {
        let now = self.time.now
        // Asked again, as it may have been deleted since its proof was checked.
        guard self.registry.device(device) != nil else { throw DeviceAuthenticator.Refusal.unknownDevice }
        try self.write { database in
            try RegistryRecords.saw(device: device, at: now, in: database)
            try self.append([Event(.connected, device: device, time: now)], in: database)
        }
        self.lastSession += 1
        self.links[self.lastSession] = link
        let replaced = self.machine.connected(
            device,
            session: self.lastSession,
            understandsExtensions: understandsExtensions
        )
        if let replaced { self.links.removeValue(forKey: replaced)?.close() }
        return self.lastSession
    }

    func disconnected(_ device: UUID, session: RoutingMachine.SessionID) throws {
        self.links[session] = nil
        guard self.machine.disconnected(device, session: session) else { return }
        let now = self.time.now
        try self.write { database in
            try RegistryRecords.saw(device: device, at: now, in: database)
            try self.append([Event(.disconnected, device: device, time: now)], in: database)
        }
    }

    /// The gateway ends: what devices have not acknowledged stays stored.
    func endAllSessions() throws {
        let now = self.time.now
        let devices = self.machine.endAllSessions()
        self.links = [:]
        try self.write { database in
            for device in devices { try RegistryRecords.saw(device: device, at: now, in: database) }
            try self.append(devices.map { Event(.disconnected, device: $0, time: now) }, in: database)
        }
    }

    /// Delivers what is stored for the topics of the filter, and says for which of the device's tokens nothing is.
    func subscribed(_ device: UUID, session: RoutingMachine.SessionID, to topics: [TopicHash]) throws {
        guard self.machine.subscribed(device, session: session, to: topics) else { return }
        let kept = try self.deliverStored(device)
        for hash in topics where !kept.contains(hash) {
            guard let token = try self.registry.currentToken(device: device, topic: hash) else { continue }
            self.links[session]?.send(CourierPacket(.noStorage, [.bytes(1, token.bytes)]))
        }
    }

    /// The device has the message, or will not have it: it leaves the store. What waited for room is delivered next.
    func acknowledged(_ device: UUID, session: RoutingMachine.SessionID, ack: CourierMessageAck) throws {
        guard let done = self.machine.acknowledged(device, session: session, messageID: ack.messageID) else { return }
        let delivered: Event.Name = done.isFromStorage ? .deliveredFromStorage : .delivered
        let name = ack.status == 0 ? delivered : .refusedByDevice
        let event = Event(name, done.message, time: self.time.now)
        try self.write { database in
            try MessageTable(database: database).remove(done.message)
            try self.append([event], in: database)
        }
        try self.deliverStored(device)
    }

    /// The device was deleted: its connection ends.
    func close(_ device: UUID) {
        if let session = self.machine.session(of: device) { self.links[session]?.close() }
    }

    /// Removes what has expired and old events. Called from time to time.
    func purge() throws {
        let now = self.time.now
        var removed = 0
        repeat {
            removed = try self.write { database in
                let expired = try MessageTable(database: database).takeExpired(now: now, limit: Self.expiryBatch)
                try self.append(expired.map { Event(.expired, $0, time: now) }, in: database)
                return expired.count
            }
        } while removed == Self.expiryBatch
        let (devices, limit) = (self.devicesWithNewEvents, self.eventsPerDevice)
        try self.write { database in
            for device in devices { try EventTable(database: database).trim(device, toNewest: limit) }
        }
        self.devicesWithNewEvents = []
    }

    /// The topics for which something is on its way or stored.
    @discardableResult
    private func deliverStored(_ device: UUID) throws -> Set<TopicHash> {
        let now = self.time.now
        let stored = try self.database.read { try MessageTable(database: $0).messages(device: device) }
        var kept: Set<TopicHash> = []
        for message in stored {
            guard let end = message.expiresAt, end > now else {
                try self.write { database in
                    try MessageTable(database: database).remove(message)
                    try self.append([Event(.expired, message, time: now)], in: database)
                }
                continue
            }
            kept.insert(TopicHash(message.notification.topic))
            if case .send(let session, let courier) = self.machine.deliver(message, isFromStorage: true) {
                self.links[session]?.send(courier.packet)
            }
        }
        return kept
    }

    private func record(_ events: [Event]) throws {
        try self.write { try self.append(events, in: $0) }
    }

    private func append(_ events: [Event], in database: Database) throws {
        try EventTable(database: database).append(events)
        self.devicesWithNewEvents.formUnion(events.lazy.map(\.device))
    }

    private func write<Value>(_ updates: (Database) throws -> Value) throws -> Value {
        try self.database.write(updates)
    }
}
