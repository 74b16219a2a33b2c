import Foundation
import Logging
import NIOCore
import PushHTTP
import PushSupport
import PushTypes
import PushWire

/// The device link listener of one environment. It handles the requests that its connections have parsed.
final class DeviceLinkListener: Sendable {
    /// The maximum number of sent bytes that a device has not read. Beyond it, messages wait in the device's
    /// ``DeviceLinkMailbox``, and a device that sends requests without reading as many bytes of responses is
    /// disconnected.
    static let outboundLimit = 512 * 1024

    /// The session of an authenticated device. Its base token identifies the device itself and not an app on it.
    struct Session: Sendable {
        var id: DeviceSession.ID
        var baseToken: [UInt8]
        /// A Boolean value that indicates whether the response to *Connect* must include the base token, because the
        /// request contained none or another one.
        var isNewToken: Bool
        var mailbox: DeviceLinkMailbox
    }

    let sweeper = IdleConnectionSweeper()
    let router: MessageRouter
    let limits: DeviceLinkServerStateMachine.Limits
    /// The maximum time from TCP accept to the end of the TLS handshake, after which the connection is closed.
    let handshake: Duration
    private let authenticator: DeviceAuthenticator
    private let topic: @Sendable (TopicHash) -> Topic?
    private let tokenLength: @Sendable (Topic) -> Int
    private let hasChannel: @Sendable (ChannelName) -> Bool

    /// Creates a listener.
    /// - Parameters:
    ///   - topic: Returns the registered topic with a hash, or `nil` for an unknown one.
    ///   - tokenLength: Returns the length of a topic's device tokens, in bytes, or 0 for encrypted ones of varying
    ///     length.
    ///   - hasChannel: Returns whether a broadcast channel exists.
    init(
        router: MessageRouter,
        authenticator: DeviceAuthenticator,
        limits: GatewayConfiguration.Limits,
        topic: @escaping @Sendable (TopicHash) -> Topic?,
        tokenLength: @escaping @Sendable (Topic) -> Int,
        hasChannel: @escaping @Sendable (ChannelName) -> Bool
    ) {
        (self.router, self.authenticator) = (router, authenticator)
        self.logger = router.services.logger.rateLimited()
        (self.limits, self.handshake) = (limits.deviceLink, limits.handshake)
        (self.topic, self.tokenLength, self.hasChannel) = (topic, tokenLength, hasChannel)
    }

    private var environment: PushEnvironment { self.router.environment }
    private var devices: DeviceRegistry { self.router.services.devices }
    var time: any TimeSource { self.router.services.time }
    let logger: Logger

    /// Adds the connection's handler behind TLS. This method is called by ``Listener`` for each new connection.
    /// - Parameter fault: The fault of the connection, which ``Listener`` applies, or `nil` if there is none.
    func initialize(_ channel: any Channel, _ fault: FaultDecision?) throws {
        try channel.syncOptions?.setOption(
            .writeBufferWaterMark,
            value: .init(low: Self.outboundLimit / 2, high: Self.outboundLimit)
        )
        try channel.pipeline.syncOperations.addHandler(DeviceLinkServerHandler(listener: self))
    }

    /// Returns the id of an authenticated device, or `nil` if it is rejected. The check is too slow for an event loop.
    func authenticate(_ connect: DeviceLinkConnectRequest, tlsCertificate: [UInt8]?) -> UUID? {
        do {
            return try self.authenticator.device(connect, tlsCertificate: tlsCertificate, now: self.time.now)
        } catch {
            self.logger.info("device rejected", metadata: ["reason": "\(error.rawValue)"])
            return nil
        }
    }

    /// Begins the session of an authenticated device. Returns `nil` if the device was deleted meanwhile.
    func open(_ device: UUID, _ connect: DeviceLinkConnectRequest, channel: any Channel) -> Session? {
        guard let known = self.devices.device(device),
            let baseToken = try? self.devices.minter.baseToken(for: device, epoch: known.epoch)
        else { return nil }
        let mailbox = DeviceLinkMailbox(
            channel: channel,
            listener: self,
            recipient: .init(id: device, baseToken: baseToken, understandsExtensions: connect.understandsExtensions)
        )
        guard let id = self.router.connected(device, isActive: connect.state == .active, connection: mailbox) else {
            return nil
        }
        return Session(id: id, baseToken: baseToken, isNewToken: connect.baseToken != baseToken, mailbox: mailbox)
    }

    /// Returns the current device token of an app, or `nil` if the app is not on the device.
    func token(_ topic: TopicHash, of device: UUID) -> DeviceToken? {
        try? self.devices.currentToken(topic, on: device, in: self.environment)
    }

    /// Returns whether a fault closes the connection after this message.
    /// - Parameter ordinal: The number of the message on its connection, from 1.
    func endsConnection(after message: Message, ordinal: Int) -> Bool {
        let decision = self.router.services.faults.decide(
            at: .delivery,
            for: FaultSubject(listener: .deviceLink, environment: self.environment, message: message, ordinal: ordinal),
            now: self.time.now
        )
        return decision?.connection == .close
    }

    /// Finds or mints a device token, and calls `respond` on any thread with the token or a status of failure.
    func mint(
        _ request: DeviceLinkTokenRequest,
        for device: UUID,
        respond: @escaping @Sendable (DeviceLinkTokenResponse) -> Void
    ) {
        let unknownTopic = DeviceLinkTokenResponse(status: 2, token: [], topic: request.topic)
        guard let topic = self.topic(request.topic) else { return respond(unknownTopic) }
        let (length, now) = (self.tokenLength(topic), self.time.now)
        self.devices.token(topic, on: device, in: self.environment, length: length, now: now) { result in
            switch result {
            case .success(let token?):
                respond(DeviceLinkTokenResponse(status: 0, token: token.bytes, topic: request.topic))
            case .success(nil): respond(unknownTopic)
            case .failure(let error):
                self.logger.error("device token could not be minted", metadata: ["error": "\(error)"])
                respond(unknownTopic)
            }
        }
    }

    /// Follows or unfollows a channel and returns the response, whose status is not `ok` if that is impossible.
    func channel(_ request: DeviceLinkChannelRequest, for session: Session) -> DeviceLinkChannelResponse {
        let (topic, id) = (request.topic, request.channel)
        var response = DeviceLinkChannelResponse(status: .unknownChannel, topic: topic, channel: id)
        guard let bundleID = self.topic(topic) else { return response }
        let channel = ChannelName(bundleID: bundleID, id: id)
        if !request.follows {
            self.router.unfollow(channel, session.id)
            response.status = .ok
        } else if self.hasChannel(channel) {
            response.status = self.router.follow(channel, session.id) ? .ok : .tooMany
        }
        return response
    }
}
