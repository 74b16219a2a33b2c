import Crypto
import Foundation
import Logging
import Metrics
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTypes
import PushWire
import Synchronization

/// Checks the notifications of legacy providers and writes them into the ledger, the provider's store of notifications.
///
/// Each notification is either rejected or stored. Notifications of a connection are processed in order, and none after
/// a rejected one is stored.
final class BinaryIntake: Sendable {
    struct Item: Sendable {
        /// The number that identifies the notification among those of its connection.
        var ticket: UInt32
        var notification: BinaryNotification
    }

    struct Result: Hashable, Sendable {
        var ticket: UInt32
        /// The status with which the notification is rejected, or `nil` if the notification is on disk.
        var rejection: BinaryStatus?
    }

    /// A connection of a legacy provider. Its handler calls ``end()`` when no more of its notifications may be stored.
    final class Connection: Sendable {
        private static let lastNumber = Atomic<UInt64>(0)

        let id = UUID()
        /// The number of the connection in the order of creation. A connection waits only for those with lower numbers.
        let number = Connection.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        let client: BinaryClient
        private let hasEnded = Atomic(false)

        init(_ client: BinaryClient) { self.client = client }

        var isOpen: Bool { !self.hasEnded.load(ordering: .acquiring) }

        /// Ends the connection. No more of its notifications are stored.
        func end() { self.hasEnded.store(true, ordering: .releasing) }
    }

    let windows: DeduplicationRegistry
    let ending = DrainingConnections()
    private let store: any LegacyTokenStore
    private let acceptor: NotificationAcceptor
    private let directory: BinaryClientDirectory
    private let metrics: BinaryBridgeMetrics
    private let time: any TimeSource
    private let logger: Logger

    init(
        store: any LegacyTokenStore,
        acceptor: NotificationAcceptor,
        directory: BinaryClientDirectory,
        windows: DeduplicationRegistry,
        metrics: BinaryBridgeMetrics,
        time: any TimeSource,
        logger: Logger
    ) {
        (self.store, self.acceptor, self.directory) = (store, acceptor, directory)
        (self.windows, self.metrics, self.time, self.logger) = (windows, metrics, time, logger)
    }

    /// Processes notifications in order, until one is rejected or the connection has ended.
    /// - Returns: The results, one for each processed notification. Only the last can be a rejection.
    func take(_ items: [Item], of connection: Connection) async -> [Result] {
        let client = connection.client
        var results: [Result] = []
        if client.dropsRepeats { await self.ending.waitForOlder(than: connection) }
        do {
            guard try await self.directory.isCurrent(client) else {
                return self.rejected(items.first, .missingTopic, client, after: results)
            }
            let tokens = items.compactMap { DeviceToken(bytes: $0.notification.token) }
            let refused = try await self.store.refusedTokens(tokens, of: client.target)
            for item in items {
                guard connection.isOpen else { break }
                if let status = try await self.take(item, of: connection, refused) {
                    return self.rejected(item, status, client, after: results)
                }
                results.append(Result(ticket: item.ticket))
            }
        } catch {
            self.logger.error("a notification of an old provider cannot be stored", metadata: ["error": "\(error)"])
            // The next notification is rejected with a status after which the provider may send it again.
            return self.rejected(items.dropFirst(results.count).first, .processingError, client, after: results)
        }
        return results
    }

    /// Checks and stores one notification.
    /// - Parameter refused: The tokens to which nothing is sent, because the push service has reported them as invalid.
    /// - Returns: The status with which it is rejected, or `nil` once it is on disk.
    private func take(
        _ item: Item,
        of connection: Connection,
        _ refused: Set<DeviceToken>
    ) async throws -> BinaryStatus? {
        let (client, notification) = (connection.client, item.notification)
        let receivedAt = self.time.now
        let request: NotificationRequest
        switch BinaryTranslation.request(notification, from: client) {
        case .success(let translated): request = translated
        case .failure(let rejection): return rejection.status
        }
        if case .tokens(let tokens) = request.audience, let token = tokens.first, refused.contains(token) {
            try await self.store.takeRefusal(token, of: client.target)
            return .invalidToken
        }
        let key = DeduplicationWindow.Key(notification)
        if self.windows.takeRepeat(key, from: client) {
            self.metrics.countRepeat(over: client.bridge)
            return nil
        }
        do {
            let (_, acceptance) = try await self.acceptor.accept(
                request,
                app: client.app,
                id: Self.id(of: item, on: connection),
                acceptance: AcceptanceRecord(
                    receivedAt: receivedAt,
                    origin: NotificationOrigin(.binary, bridge: client.bridge)
                )
            )
            // A notification without an idempotency key has no other result.
            guard case .accepted = acceptance else { return .processingError }
        } catch let error as RequestError {
            // The token is registered for another use, such as calls.
            self.logger.info("notification of an old provider rejected", metadata: ["reason": "\(error.message)"])
            return .invalidToken
        }
        self.windows.stored(key, from: client, on: connection.id)
        self.metrics.countAccepted(over: client.bridge)
        return nil
    }

    /// Releases the state of a connection that has no more notifications to store. After a broken connection,
    /// repetitions of its pushes are recognized.
    /// - Parameter isBroken: Whether the legacy provider cannot know which notifications were stored.
    func connectionEnded(_ connection: Connection, isBroken: Bool) {
        self.windows.connectionEnded(connection.id, of: connection.client, isBroken: isBroken)
        self.ending.end(connection)
    }

    private func rejected(
        _ item: Item?,
        _ status: BinaryStatus,
        _ client: BinaryClient,
        after results: [Result]
    ) -> [Result] {
        guard let item else { return results }
        self.metrics.countRejection(status, over: client.bridge)
        return results + [Result(ticket: item.ticket, rejection: status)]
    }

    /// Returns the id of a notification, which is derived from the id of the connection and the ticket.
    private static func id(of item: Item, on connection: Connection) -> UUID {
        var hash = SHA256()
        withUnsafeBytes(of: connection.id.uuid) { hash.update(bufferPointer: $0) }
        withUnsafeBytes(of: item.ticket.bigEndian) { hash.update(bufferPointer: $0) }
        return UUID(digest: hash.finalize())
    }
}

extension UUID {
    /// Creates a UUID of version 8 (RFC 9562) from the first bits of a digest.
    fileprivate init(digest: SHA256.Digest) {
        var bytes = Array(digest.prefix(16))
        bytes[6] = bytes[6] & 0x0f | 0x80
        bytes[8] = bytes[8] & 0x3f | 0x80
        self.init(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
                bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            )
        )
    }
}

/// The counters of the metric `martlet_binary_bridge_notifications`, one for each combination of bridge and result.
final class BinaryBridgeMetrics: Sendable {
    private struct Key: Hashable {
        var bridge, result: String
    }

    private let factory: any MetricsFactory
    private let counters = Mutex<[Key: Counter]>([:])

    init(factory: any MetricsFactory) { self.factory = factory }

    func countAccepted(over bridge: String) { self.count("accepted", bridge) }
    func countRepeat(over bridge: String) { self.count("repeated", bridge) }
    func countRejection(_ status: BinaryStatus, over bridge: String) { self.count(status.text, bridge) }

    private func count(_ result: String, _ bridge: String) {
        let key = Key(bridge: bridge, result: result)
        let counter = self.counters.withLock { counters in
            if let counter = counters[key] { return counter }
            let counter = Counter(
                label: "martlet_binary_bridge_notifications",
                dimensions: [("bridge", bridge), ("result", result)],
                factory: self.factory
            )
            counters[key] = counter
            return counter
        }
        counter.increment()
    }
}
