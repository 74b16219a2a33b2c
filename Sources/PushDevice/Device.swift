import Foundation
public import Logging
package import PushSupport
import PushTypes
import PushWire
public import ServiceLifecycle
import Synchronization

/// A device as the push service sees one: keeps one courier connection, mints device tokens, receives notifications.
///
/// Run it (it is a `Service`), ask for a token per topic, and iterate ``notifications``. It reconnects by itself, with
/// jittered back-off, until it is cancelled or shut down. A notification is acknowledged once it stands in the queue
/// behind ``notifications``; what the queue has no room for is not, and comes again on the next connection.
public final class Device: Service {
    /// Notifications that may wait to be read: more than a gateway has on their way to one device at a time.
    public static let queueLength = 4096

    /// Everything that arrives, oldest first; ends when ``run()`` ends. For one reader.
    public let notifications: AsyncStream<ReceivedNotification>

    private let configuration: DeviceConfiguration
    private let queue: AsyncStream<ReceivedNotification>.Continuation
    private let tokens: TokenRequests
    private let channels = ChannelRequests()
    /// Whether the device is in use, and how the connection is told.
    private let use: Mutex<(isActive: Bool, tell: (@Sendable (DeviceLinkPacket) -> Void)?)>
    private let state: Mutex<DeviceIdentity>
    private let time: any TimeSource
    private let logger: Logger

    public convenience init(identity: DeviceIdentity, configuration: DeviceConfiguration, logger: Logger) {
        self.init(identity: identity, configuration: configuration, time: SystemTime(), logger: logger)
    }

    package init(
        identity: DeviceIdentity,
        configuration: DeviceConfiguration,
        time: any TimeSource,
        logger: Logger
    ) {
        self.configuration = configuration
        self.state = Mutex(identity)
        self.use = Mutex((configuration.isActive, nil))
        self.tokens = TokenRequests()
        self.time = time
        var logger = logger
        logger[metadataKey: "device"] = "\(identity.deviceID)"
        self.logger = logger
        (self.notifications, self.queue) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.queueLength))
    }

    /// The identity with the latest base token: store this one.
    public var identity: DeviceIdentity { self.state.withLock { $0 } }

    /// The device token of `topic`, in hexadecimal: what a provider needs. Waits for the connection if there is none.
    ///
    /// From then on the device receives what is sent to that topic.
    /// - Throws: ``DeviceError`` for a bad or unknown topic, or when none came within `timeout`.
    public func deviceToken(for topic: String, timeout: Duration = .seconds(30)) async throws -> String {
        guard let valid = Topic(topic) else { throw DeviceError.badTopic(topic) }
        return try await self.tokens.token(for: valid, timeout: timeout)
    }

    /// Follows a broadcast channel of the app `bundleID`: its broadcasts arrive in ``notifications``, also after a
    /// reconnect.
    /// - Parameter channel: base64, as in `apns-channel-id`.
    /// - Throws: ``DeviceError`` when there is no such channel, the device follows too many, or no answer came.
    public func follow(channel: String, of bundleID: String, timeout: Duration = .seconds(30)) async throws {
        guard let topic = Topic(bundleID) else { throw DeviceError.badTopic(bundleID) }
        try await self.channels.follow(.init(topic: TopicHash(topic), id: channel), timeout: timeout)
    }

    public func unfollow(channel: String, of bundleID: String) throws {
        guard let topic = Topic(bundleID) else { throw DeviceError.badTopic(bundleID) }
        self.channels.unfollow(.init(topic: TopicHash(topic), id: channel))
    }

    /// Tells the service whether the device is in use. One that is not gets no notifications of low priority, and those
    /// that may wait only now and then.
    public func setActive(_ isActive: Bool) {
        let tell = self.use.withLock { use in
            use.isActive = isActive
            return use.tell
        }
        tell?(Self.state(isActive))
    }

    private static func state(_ isActive: Bool) -> DeviceLinkPacket {
        DeviceLinkPacket(.setState, [.integer(1, (isActive ? DeviceLinkState.active : .inactive).rawValue)])
    }

    /// Connects and reconnects until cancelled or shut down.
    public func run() async throws {
        defer {
            self.queue.finish()
            self.tokens.end()
            self.channels.end()
        }
        let connector = try DeviceLinkConnector(configuration: self.configuration, identity: self.identity)
        await cancelWhenGracefulShutdown {
            await self.reconnect(connector)
        }
    }

    /// A connection stands, or with `nil`, is no more. What changed while it was being opened is told.
    private func connected(_ write: (@Sendable (DeviceLinkPacket) -> Void)?) {
        let isActive = self.use.withLock { use in
            use.tell = write
            return use.isActive
        }
        if isActive != self.configuration.isActive { write?(Self.state(isActive)) }
    }

    private func reconnect(_ connector: DeviceLinkConnector) async {
        var failures = 0
        var generator = SystemRandomNumberGenerator()
        while !Task.isCancelled {
            let session = DeviceLinkSession(
                tokens: self.tokens,
                channels: self.channels,
                queue: self.queue,
                logger: self.logger,
                baseTokenChanged: { token in self.state.withLock { $0.baseToken = token } },
                connected: { write in self.connected(write) }
            )
            do {
                let connect = try connector.connect(identity: self.identity, now: self.time.now)
                let wasConnected = try await connector.run(session, connect: connect, time: self.time)
                failures = wasConnected ? 1 : failures + 1
            } catch {
                failures += 1
                self.logger.warning("no connection to the push service", metadata: ["error": "\(error)"])
            }
            if Task.isCancelled { return }
            let delay = self.configuration.reconnect.delay(afterFailures: failures, using: &generator)
            self.logger.info("reconnecting", metadata: ["delay": "\(delay)", "failures": "\(failures)"])
            try? await Task.sleep(for: delay)
        }
    }
}
