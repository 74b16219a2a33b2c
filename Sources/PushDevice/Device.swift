public import Foundation
public import Logging
import NIOCore
package import PushSupport
public import PushTypes
import PushWire
public import ServiceLifecycle
import Synchronization

/// A device of the push service, which keeps one connection, obtains device tokens, and receives notifications.
///
/// Run it as a `Service`, request a token for each topic, and iterate over ``notifications``. It reconnects by itself,
/// with delays that grow and vary at random, until it is cancelled or shut down. A notification is acknowledged once it
/// is in the queue behind ``notifications``. When the queue is full, the device reconnects after a delay, and the
/// service sends the unacknowledged notifications again.
public final class Device: Service {
    /// The maximum number of received notifications that wait to be read. At the limit, the connection is closed, and
    /// the device receives further ones after it has reconnected. A gateway has fewer in flight to one device.
    public static let queueLength = 4096

    /// The received notifications, oldest first, for one reader. The stream finishes when ``run()`` returns.
    public let notifications: AsyncStream<ReceivedNotification>

    private let configuration: DeviceConfiguration
    private let queue: AsyncStream<ReceivedNotification>.Continuation
    private let tokens = TokenRequests()
    private let channels = ChannelRequests()
    /// The state to report to the service. `isActive` is `true` if the device is in use. `write` sends a packet. It is
    /// `nil` while there is no connection.
    private let activity: Mutex<(isActive: Bool, write: (@Sendable (DeviceLinkPacket) -> Void)?)>
    private let currentIdentity: Mutex<DeviceIdentity>
    /// The selection between the first port and the fallback port, or `nil` for a push service with a single port.
    private let ports: Mutex<PortFallback?>
    private let time: any TimeSource
    private let sleep: @Sendable (Duration) async -> Void
    private let logger: Logger

    /// Creates a device, which connects in ``run()``.
    /// - Parameters:
    ///   - identity: The identity from ``DeviceActivation``, or the stored one of an earlier run.
    ///   - configuration: The address of the push service and the timeouts.
    ///   - logger: The logger for connections that are opened or closed.
    public convenience init(identity: DeviceIdentity, configuration: DeviceConfiguration, logger: Logger) {
        self.init(identity: identity, configuration: configuration, time: SystemTime(), logger: logger)
    }

    /// Creates a device with the given clock.
    /// - Parameter sleep: Waits for the delay before a reconnect. Tests pass a closure that returns immediately.
    package init(
        identity: DeviceIdentity,
        configuration: DeviceConfiguration,
        time: any TimeSource,
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) },
        logger: Logger
    ) {
        self.configuration = configuration
        self.currentIdentity = Mutex(identity)
        self.activity = Mutex((configuration.isActive, nil))
        self.ports = Mutex(configuration.fallbackPort.map { PortFallback(first: configuration.port, second: $0) })
        (self.time, self.sleep) = (time, sleep)
        var logger = logger
        logger[metadataKey: "device"] = "\(identity.deviceID)"
        self.logger = logger
        (self.notifications, self.queue) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.queueLength))
    }

    /// The identity with the latest ``DeviceIdentity/baseToken``. Store it once a device token has arrived.
    public var identity: DeviceIdentity { self.currentIdentity.withLock { $0 } }

    /// Returns the device token for `topic` in hexadecimal, for a provider. It waits for a connection if there is none.
    ///
    /// From then on, the device receives the pushes to that topic.
    /// - Throws: ``DeviceError`` for a malformed or unknown topic, or if no token arrives within `timeout`.
    ///   `CancellationError` if the task is cancelled or ``run()`` has ended.
    public func deviceToken(for topic: String, timeout: Duration = .seconds(30)) async throws -> String {
        try await self.tokens.token(for: Self.topic(topic), timeout: timeout)
    }

    /// Follows a broadcast channel of the app `bundleID`. Its broadcasts arrive in ``notifications``, even after a
    /// reconnect.
    /// - Parameter channel: The channel id in base64, as in `apns-channel-id`.
    /// - Throws: ``DeviceError`` if the channel does not exist, the device follows too many, or no response arrives
    ///   within `timeout`. `CancellationError` if the task is cancelled or ``run()`` has ended.
    public func follow(channel: String, of bundleID: String, timeout: Duration = .seconds(30)) async throws {
        let topic = TopicHash(try Self.topic(bundleID))
        try await self.channels.follow(.init(topic: topic, id: channel), timeout: timeout)
    }

    /// Stops following a broadcast channel, without waiting for the push service.
    /// - Throws: ``DeviceError/badTopic(_:)`` if `bundleID` is not a topic.
    public func unfollow(channel: String, of bundleID: String) throws {
        self.channels.unfollow(.init(topic: TopicHash(try Self.topic(bundleID)), id: channel))
    }

    /// Tells the push service whether the device is in use. A device that is not in use receives no notifications of
    /// low priority, and those of medium priority only occasionally.
    public func setActive(_ isActive: Bool) {
        let write = self.activity.withLock { activity in
            activity.isActive = isActive
            return activity.write
        }
        write?(Self.statePacket(isActive))
    }

    /// Connects, and reconnects after failures, until the task is cancelled or the device is shut down. This method may
    /// be called only once, because ``notifications`` finishes when it returns.
    /// - Throws: ``DeviceError/badIdentity(_:)`` for an identity that cannot be used. Failed connections are not
    ///   errors.
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

    private static func topic(_ text: String) throws -> Topic {
        guard let topic = Topic(text) else { throw DeviceError.badTopic(text) }
        return topic
    }

    private static func statePacket(_ isActive: Bool) -> DeviceLinkPacket {
        DeviceLinkPacket(.setState, [.integer(1, (isActive ? DeviceLinkState.active : .inactive).rawValue)])
    }

    /// Sets the closure that writes to the connection, or `nil` after its end. Reports the state to the service if it
    /// has changed since the *Connect* packet.
    private func connected(_ write: (@Sendable (DeviceLinkPacket) -> Void)?) {
        let isActive = self.activity.withLock { activity in
            activity.write = write
            return activity.isActive
        }
        if isActive != self.configuration.isActive { write?(Self.statePacket(isActive)) }
    }

    /// The port for the next connection: the first port if it is time to try it again, otherwise the current one.
    private var nextPort: Int {
        self.ports.withLock { ports in
            guard let ports else { return self.configuration.port }
            return ports.isReturnDue(now: self.time.steady) ? ports.first : ports.port
        }
    }

    private func failed(_ port: Int) { self.ports.withLock { _ = $0?.failed(port, now: self.time.steady) } }

    private func opened(_ port: Int) {
        switch self.ports.withLock({ $0?.opened(port, now: self.time.steady) }) {
        case .fellBack?:
            self.logger.warning("push service is reached on its fallback port", metadata: ["port": "\(port)"])
        case .returned?:
            self.logger.info("push service is reached on its first port again", metadata: ["port": "\(port)"])
        case nil: break
        }
    }

    private func reconnect(_ connector: DeviceLinkConnector) async {
        var failures = 0
        var generator = SystemRandomNumberGenerator()
        while !Task.isCancelled {
            let port = self.nextPort
            let session = DeviceLinkSession(
                tokens: self.tokens,
                channels: self.channels,
                queue: self.queue,
                logger: self.logger,
                baseTokenChanged: { token in self.currentIdentity.withLock { $0.baseToken = token } },
                connected: { write in
                    if write != nil { self.opened(port) }
                    self.connected(write)
                }
            )
            do {
                let connect = try connector.connectPacket(identity: self.identity, now: self.time.now)
                let wasConnected = try await connector.run(session, connect: connect, port: port, time: self.time)
                failures = wasConnected ? 1 : failures + 1
                if !wasConnected { self.failed(port) }
            } catch {
                failures += 1
                self.failed(port)
                self.logger.warning(
                    "no connection to the push service",
                    metadata: [
                        "address": "\(self.configuration.host):\(port)", "error": "\(ErrorDescription.of(error))",
                    ]
                )
            }
            if Task.isCancelled { return }
            let delay = self.configuration.reconnect.delay(afterFailures: failures, using: &generator)
            self.logger.info("reconnecting", metadata: ["delay": "\(delay)", "failures": "\(failures)"])
            await self.sleep(delay)
        }
    }
}

/// A notification that the device has received.
public struct ReceivedNotification: Hashable, Sendable {
    /// The device token in lower-case hexadecimal. For a broadcast, it is the device's ``DeviceIdentity/baseToken``.
    public var deviceToken: String
    /// The topic, or `nil` if the device did not request a token for it.
    public var topic: String?
    /// The JSON text that the provider sent, unchanged.
    public var payload: Data
    /// The time until which the service would have stored the notification, or `nil` if it was not to be stored.
    public var expiresAt: Date?
    /// The time at which the service accepted the notification.
    public var sentAt: Date
    /// The header `apns-id`. Like the properties below, it is `nil` if the service is not Martlet's gateway.
    public var apnsID: String?
    /// The header `apns-push-type`, or `nil` if the provider sent none.
    public var pushType: String?
    /// The header `apns-priority`: 10, 5 or 1, or `nil` if the service is not Martlet's gateway.
    public var priority: Int?
    /// The header `apns-collapse-id`, or `nil` if the provider sent none.
    public var collapseID: String?
    /// The header `apns-channel-id` of a broadcast, or `nil` for other notifications.
    public var channelID: String?

    init(_ message: DeviceLinkMessage, topic: Topic?) {
        self.deviceToken = Hexadecimal.encode(message.token)
        self.topic = topic?.name
        self.payload = Data(message.payload.readableBytesView)
        self.expiresAt = message.expiration == 0 ? nil : Date(timeIntervalSince1970: Double(message.expiration))
        self.sentAt = Date(timeIntervalSince1970: Double(message.sentAt.milliseconds) / 1000)
        self.apnsID = message.apnsID
        self.pushType = message.pushType
        self.priority = message.priority.map(Int.init)
        self.collapseID = message.collapseID
        self.channelID = message.channelID
    }
}

/// The address of the push service and the timeouts of a ``Device``.
public struct DeviceConfiguration: Sendable {
    /// The host name or address of the push service. Default `localhost`.
    public var host: String
    /// The port of the device link. Default 5223.
    public var port: Int
    /// The port that is used when no connection can be opened to ``port``, or `nil` for none. Apple's devices use 443.
    ///
    /// The device tries the first port again at a reconnect after a minute, and then less often.
    public var fallbackPort: Int?
    /// A Boolean value that indicates whether the device is initially in use (``Device/setActive(_:)``). Default
    /// `true`.
    public var isActive = true
    /// The interval between two keep-alive packets. Default 30 s.
    public var keepAlive: Duration = .seconds(30)
    /// The maximum time for the TCP connection, including a proxy's tunnel, and separately for the response to
    /// *Connect*. Default 10 s.
    public var connectTimeout: Duration = .seconds(10)
    /// The maximum delay before the first reconnect. It doubles with each failure. Default 1 s.
    public var reconnectBase: Duration = .seconds(1)
    /// The maximum delay before any reconnect. Default 60 s.
    public var reconnectMaximum: Duration = .seconds(60)

    /// The HTTP proxy that tunnels the connections, or `nil` if there is none. Default `nil`.
    ///
    /// With a proxy, ``host`` must be a name, because an address in the push service's certificate could not be
    /// checked.
    public var proxy: ProxyEndpoint?

    /// Creates a configuration with the default values.
    public init(host: String = "localhost", port: Int = 5223) { (self.host, self.port) = (host, port) }

    fileprivate var reconnect: Backoff { Backoff(base: self.reconnectBase, maximum: self.reconnectMaximum) }
}

/// The address of an HTTP/1.1 proxy, with basic authentication if it has a user.
public typealias ProxyEndpoint = PushTypes.ProxyEndpoint

/// An error of a ``Device`` or of its activation.
public enum DeviceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error if the gateway issued no certificate. The text gives the reason.
    case activationFailed(String)
    /// The error if the certificate, the key or the authority of the identity is not valid. The text gives the reason.
    case badIdentity(String)
    /// The error if the text is not a topic: 1 to 255 letters, digits, dots, hyphens or underscores.
    case badTopic(String)
    /// The error if the push service knows no app with this topic.
    case topicNotRegistered(String)
    /// The error if the push service sent no device token for this topic in time.
    case tokenTimeout(String)
    /// The error if the push service has no broadcast channel with this id.
    case unknownChannel(String)
    /// The error if the device already follows as many channels as the push service allows.
    case tooManyChannels
    /// The error if the push service did not respond in time to the request to follow this channel.
    case channelTimeout(String)

    /// A readable description of the error.
    public var description: String {
        switch self {
        case .activationFailed(let why): "activation failed: \(why)"
        case .badIdentity(let why): "the device identity cannot be used: \(why)"
        case .badTopic(let topic): "'\(topic)' is not a topic: use letters, digits, dots, hyphens or underscores"
        case .topicNotRegistered(let topic):
            "the push service knows no app for topic \(topic): create the app there first"
        case .unknownChannel(let channel): "the push service has no channel \(channel)"
        case .tooManyChannels: "the device follows as many channels as the push service allows"
        case .channelTimeout(let channel): "no response for channel \(channel) in time: is the push service reachable?"
        case .tokenTimeout(let topic): "no device token for \(topic) in time: is the push service reachable?"
        }
    }
}
