import Logging
import PushTypes
import PushWire

/// The processing of one connection: sending topics, requesting tokens, and queueing and acknowledging notifications.
struct DeviceLinkSession: Sendable {
    let tokens: TokenRequests
    let channels: ChannelRequests
    let queue: AsyncStream<ReceivedNotification>.Continuation
    let logger: Logger
    let baseTokenChanged: @Sendable ([UInt8]) -> Void
    /// The closure that is called with a function that writes to the connection once the service has accepted the
    /// device, and with `nil` when the session ends.
    let connected: @Sendable ((@Sendable (DeviceLinkPacket) -> Void)?) -> Void

    /// Processes the events of a connection until it ends.
    /// - Parameter unread: The counter of unread bytes, from which each processed event is subtracted.
    /// - Returns: `true` if the service had accepted the device before the connection ended.
    func run(
        _ events: AsyncStream<DeviceLinkClientHandler.Event>,
        _ unread: UnreadBytes = UnreadBytes(),
        write: @escaping @Sendable (DeviceLinkPacket) -> Void
    ) async -> Bool {
        var isConnected = false
        defer {
            self.tokens.attach(nil)
            self.channels.attach(nil)
            self.connected(nil)
        }
        for await event in events {
            unread.remove(event.size)
            switch event {
            case .connected(let baseToken):
                isConnected = true
                self.logger.info("connected to the push service")
                if let baseToken { self.baseTokenChanged(baseToken) }
                self.connected(write)
                self.announce(write)
                self.channels.attach(write)
            case .message(let message):
                // The push service sends what is not acknowledged again on the next connection.
                if !self.receive(message, write: write) { return isConnected }
            case .scopedToken(let response): self.tokens.receive(response)
            case .channel(let response):
                if response.status != .ok {
                    let metadata: Logger.Metadata = ["channel": "\(response.channel)", "status": "\(response.status)"]
                    self.logger.warning("channel cannot be followed", metadata: metadata)
                }
                self.channels.receive(response)
            case .nothingStored(let token):
                self.logger.debug(
                    "nothing stored while offline",
                    metadata: ["token": "\(DeviceToken(bytes: token)?.description ?? "?")"]
                )
            case .failed(let error): self.logger.warning("connection failed", metadata: ["error": "\(error)"])
            case .closed(let reason):
                self.logger.warning("connection ended", metadata: ["reason": "\(reason.rawValue)"])
            }
        }
        return isConnected
    }

    /// Sends the topics, and requests the token for each, because the service may have issued new ones.
    private func announce(_ write: @escaping @Sendable (DeviceLinkPacket) -> Void) {
        let tokens = self.tokens
        tokens.attach { topic in
            write(Self.filter(tokens))
            write(Self.request(topic))
        }
        write(Self.filter(tokens))
        for topic in tokens.topics { write(Self.request(topic)) }
    }

    private static func filter(_ tokens: TokenRequests) -> DeviceLinkPacket {
        DeviceLinkFilter(enabled: tokens.topics.map(TopicHash.init)).packet
    }

    private static func request(_ topic: Topic) -> DeviceLinkPacket {
        DeviceLinkTokenRequest(baseToken: nil, topic: TopicHash(topic)).packet
    }

    /// Queues a notification and acknowledges it.
    /// - Returns: `false` if the queue is full, so that the session must end.
    private func receive(_ message: DeviceLinkMessage, write: (DeviceLinkPacket) -> Void) -> Bool {
        let notification = ReceivedNotification(message, topic: self.tokens.topic(for: message.topic))
        switch self.queue.yield(notification) {
        case .enqueued:
            write(DeviceLinkAcknowledgement(token: message.token, messageID: message.messageID).packet)
            return true
        case .terminated:
            self.logger.warning("notifications are no longer read, not acknowledged")
            return true
        case .dropped:
            let metadata: Logger.Metadata = ["length": "\(Device.queueLength)"]
            self.logger.warning("notification queue is full, reconnecting", metadata: metadata)
            return false
        @unknown default: return false
        }
    }
}
