import Logging
import NIOCore
import PushProtocol

/// One connection's worth of work: announces topics, asks for tokens, queues and acknowledges notifications.
struct CourierSession: Sendable {
    let tokens: TokenRequests
    let channels: FollowedChannels
    let queue: AsyncStream<ReceivedNotification>.Continuation
    let logger: Logger
    let baseTokenChanged: @Sendable ([UInt8]) -> Void

    /// Returns when the connection has ended: whether the service had accepted the device.
    func run(
        _ events: AsyncStream<CourierDeviceHandler.Event>,
        write: @escaping @Sendable (CourierPacket) -> Void
    ) async -> Bool {
        var isConnected = false
        defer {
            self.tokens.attach(nil)
            self.channels.attach(nil)
        }
        for await event in events {
            switch event {
            case .connected(let baseToken):
                isConnected = true
                self.logger.info("connected to the push service")
                if let baseToken { self.baseTokenChanged(baseToken) }
                self.announce(write)
            case .message(let message):
                self.receive(message, write: write)
            case .scopedToken(let response):
                self.tokens.answered(response)
            case .nothingStored(let token):
                self.logger.debug(
                    "nothing stored while away",
                    metadata: ["token": "\(DeviceToken(bytes: token)?.description ?? "?")"]
                )
            case .channel(let response):
                guard response.status != .ok else { continue }
                self.logger.warning(
                    "channel cannot be followed",
                    metadata: ["channel": "\(response.channel)", "reason": "\(response.status)"]
                )
            case .failed(let why):
                self.logger.warning("connection failed", metadata: ["error": "\(why)"])
            case .closed(let reason):
                self.logger.warning("connection ended", metadata: ["reason": "\(reason.rawValue)"])
            }
        }
        return isConnected
    }

    /// Names the topics, then asks for the token of each: the service may have reissued them. Then the channels.
    private func announce(_ write: @escaping @Sendable (CourierPacket) -> Void) {
        let tokens = self.tokens
        let ask: @Sendable (Topic) -> Void = { topic in
            write(Self.filter(tokens))
            write(CourierScopedTokenRequest(baseToken: nil, topic: TopicHash(topic)).packet)
        }
        tokens.attach(ask)
        write(Self.filter(tokens))
        for topic in tokens.topics {
            write(CourierScopedTokenRequest(baseToken: nil, topic: TopicHash(topic)).packet)
        }
        self.channels.attach { write($0.packet) }
    }

    private static func filter(_ tokens: TokenRequests) -> CourierPacket {
        CourierFilter(enabled: tokens.topics.map(TopicHash.init)).packet
    }

    private func receive(_ message: CourierMessage, write: (CourierPacket) -> Void) {
        let notification = ReceivedNotification(message, topic: self.tokens.topic(for: message.topic))
        guard case .enqueued = self.queue.yield(notification) else {
            self.logger.warning(
                "notification queue is full: not acknowledged",
                metadata: ["length": "\(PushDevice.queueLength)"]
            )
            return
        }
        write(CourierMessageAck(token: message.token, messageID: message.messageID).packet)
    }
}
