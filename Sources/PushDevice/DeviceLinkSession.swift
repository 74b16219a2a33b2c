import Logging
import NIOCore
import PushTypes
import PushWire

/// One connection's worth of work: announces topics, asks for tokens, queues and acknowledges notifications.
struct DeviceLinkSession: Sendable {
    let tokens: TokenRequests
    let channels: ChannelRequests
    let queue: AsyncStream<ReceivedNotification>.Continuation
    let logger: Logger
    let baseTokenChanged: @Sendable ([UInt8]) -> Void
    /// Called with how to write once the service has accepted the device, and with `nil` at the end.
    let connected: @Sendable ((@Sendable (DeviceLinkPacket) -> Void)?) -> Void

    /// Returns when the connection has ended: whether the service had accepted the device.
    func run(
        _ events: AsyncStream<DeviceLinkClientHandler.Event>,
        write: @escaping @Sendable (DeviceLinkPacket) -> Void
    ) async -> Bool {
        var isConnected = false
        defer {
            self.tokens.attach(nil)
            self.channels.attach(nil)
            self.connected(nil)
        }
        for await event in events {
            switch event {
            case .connected(let baseToken):
                isConnected = true
                self.logger.info("connected to the push service")
                if let baseToken { self.baseTokenChanged(baseToken) }
                self.connected(write)
                self.announce(write)
                self.channels.attach(write)
            case .message(let message):
                self.receive(message, write: write)
            case .scopedToken(let response):
                self.tokens.answered(response)
            case .nothingStored(let token):
                self.logger.debug(
                    "nothing stored while away",
                    metadata: ["token": "\(DeviceToken(bytes: token)?.description ?? "?")"]
                )
            case .channel(let response): self.channels.answered(response)
            case .failed(let why):
                self.logger.warning("connection failed", metadata: ["error": "\(why)"])
            case .closed(let reason):
                self.logger.warning("connection ended", metadata: ["reason": "\(reason.rawValue)"])
            }
        }
        return isConnected
    }

    /// Names the topics, then asks for the token of each: the service may have reissued them.
    private func announce(_ write: @escaping @Sendable (DeviceLinkPacket) -> Void) {
        let tokens = self.tokens
        let ask: @Sendable (Topic) -> Void = { topic in
            write(Self.filter(tokens))
            write(DeviceLinkTokenRequest(baseToken: nil, topic: TopicHash(topic)).packet)
        }
        tokens.attach(ask)
        write(Self.filter(tokens))
        for topic in tokens.topics {
            write(DeviceLinkTokenRequest(baseToken: nil, topic: TopicHash(topic)).packet)
        }
    }

    private static func filter(_ tokens: TokenRequests) -> DeviceLinkPacket {
        DeviceLinkFilter(enabled: tokens.topics.map(TopicHash.init)).packet
    }

    private func receive(_ message: DeviceLinkMessage, write: (DeviceLinkPacket) -> Void) {
        let notification = ReceivedNotification(message, topic: self.tokens.topic(for: message.topic))
        guard case .enqueued = self.queue.yield(notification) else {
            self.logger.warning(
                "notification queue is full: not acknowledged",
                metadata: ["length": "\(Device.queueLength)"]
            )
            return
        }
        write(DeviceLinkAcknowledgement(token: message.token, messageID: message.messageID).packet)
    }
}
