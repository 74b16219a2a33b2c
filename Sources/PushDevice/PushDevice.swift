import Foundation
public import Logging
package import PushProtocol
public import ServiceLifecycle
import Synchronization

/// A device as the push service sees one: keeps one courier connection, mints device tokens, receives notifications.
///
/// Run it (it is a `Service`), ask for a token per topic, and iterate ``notifications``. It reconnects by itself, with
/// jittered back-off, until it is cancelled or shut down. A notification is acknowledged once it stands in the queue
/// behind ``notifications``; what the queue has no room for is not, and comes again on the next connection.
public final class PushDevice: Service {
    /// Notifications that may wait to be read.
    public static let queueLength = 1024

    /// Everything that arrives, oldest first; ends when ``run()`` ends. For one reader.
    public let notifications: AsyncStream<ReceivedNotification>

    private let configuration: DeviceConfiguration
    private let queue: AsyncStream<ReceivedNotification>.Continuation
    private let tokens: TokenRequests
    private let channels = FollowedChannels()
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

    /// From now on the device receives what is broadcast on a channel of the app `bundleID`. Waits for the connection if
    /// there is none.
    ///
    /// Whether there is such a channel is in the log.
    /// - Parameter channel: its id, in base64.
    /// - Throws: ``DeviceError``, as ``deviceToken(for:timeout:)`` for the app's topic of Live Activities.
    public func follow(channel: String, of bundleID: String, timeout: Duration = .seconds(30)) async throws {
        guard let app = Topic(bundleID) else { throw DeviceError.badTopic(bundleID) }
        // What the service has to hear before it sends broadcasts of this app.
        _ = try await self.deviceToken(for: bundleID + PushType.liveactivity.topicSuffix, timeout: timeout)
        self.channels.add(CourierChannelRequest(topic: TopicHash(app), channel: channel, follows: true))
    }

    /// Connects and reconnects until cancelled or shut down.
    public func run() async throws {
        defer {
            self.queue.finish()
            self.tokens.end()
        }
        let connector = try CourierConnector(configuration: self.configuration, identity: self.identity)
        await cancelWhenGracefulShutdown {
            await self.reconnect(connector)
        }
    }

    private func reconnect(_ connector: CourierConnector) async {
        var failures = 0
        var generator = SystemRandomNumberGenerator()
        while !Task.isCancelled {
            let session = CourierSession(
                tokens: self.tokens,
                channels: self.channels,
                queue: self.queue,
                logger: self.logger,
                baseTokenChanged: { token in self.state.withLock { $0.baseToken = token } }
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
