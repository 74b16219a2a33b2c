import Crypto
import NIOCore
import NIOPosix
import NIOSSL
import PushSupport
import PushTypes
import PushWire
import SwiftASN1
import X509

/// Opens TLS connections to the push service and proves the device's identity (device link reference 1 and 4).
struct DeviceLinkConnector: Sendable {
    private let configuration: DeviceConfiguration
    private let tls: NIOSSLContext
    private let certificate: [UInt8]
    private let privateKey: P256.Signing.PrivateKey

    /// Creates a connector for an identity.
    /// - Throws: ``DeviceError/badIdentity(_:)`` for a certificate, key or authority that cannot be parsed.
    init(configuration: DeviceConfiguration, identity: DeviceIdentity) throws {
        self.configuration = configuration
        do {
            let certificate = try Certificate(pemEncoded: identity.certificate)
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            self.certificate = serializer.serializedBytes
            self.privateKey = try P256.Signing.PrivateKey(pemRepresentation: identity.privateKey)
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.minimumTLSVersion = .tlsv12
            tls.applicationProtocols = ["apns-security-v3"]
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(identity.serviceAuthority.utf8)))
            self.tls = try NIOSSLContext(configuration: tls)
        } catch {
            throw DeviceError.badIdentity("\(error)")
        }
    }

    /// Returns the *Connect* packet for a connection: the device's certificate and a signed nonce (device link
    /// reference 4).
    func connectPacket(identity: DeviceIdentity, now: Timestamp) throws -> DeviceLinkConnectRequest {
        let nonce = DeviceLinkNonce(time: now, random: .random(in: .min ... .max)).bytes
        let signature = try self.privateKey.signature(for: nonce)
        // A base token that is too long is omitted, because the whole packet would be refused. The service issues
        // another.
        let isShort = (identity.baseToken?.count ?? 0) <= DeviceLinkConnectResponse.maximumBaseToken
        return DeviceLinkConnectRequest(
            baseToken: isShort ? identity.baseToken : nil,
            state: self.configuration.isActive ? .active : .inactive,
            certificate: self.certificate,
            nonce: nonce,
            signature: DeviceLinkSignature.ecdsaP256SHA256 + Array(signature.derRepresentation),
            understandsExtensions: true
        )
    }

    /// Connects, runs `session` until it ends and closes the connection.
    /// - Returns: `true` if the service had accepted the device before the connection ended.
    /// - Throws: An error if no connection can be opened.
    func run(
        _ session: DeviceLinkSession,
        connect: DeviceLinkConnectRequest,
        port: Int,
        time: any TimeSource
    ) async throws -> Bool {
        let (events, continuation) = AsyncStream.makeStream(
            of: DeviceLinkClientHandler.Event.self,
            bufferingPolicy: .bufferingOldest(Device.queueLength)
        )
        let unread = UnreadBytes()
        let channel = try await self.channel(connect: connect, port: port, time: time, events: continuation, unread)
        return await withTaskCancellationHandler {
            let wasConnected = await session.run(events, unread) { packet in
                channel.writeAndFlush(packet.encoded, promise: nil)
            }
            try? await channel.close()
            return wasConnected
        } onCancel: {
            channel.close(promise: nil)
        }
    }

    private func channel(
        connect: DeviceLinkConnectRequest,
        port: Int,
        time: any TimeSource,
        events: AsyncStream<DeviceLinkClientHandler.Event>.Continuation,
        _ unread: UnreadBytes
    ) async throws -> any Channel {
        let timeout = TimeAmount(self.configuration.connectTimeout)
        let group = MultiThreadedEventLoopGroup.singleton
        let bootstrap = ClientBootstrap(group: group)
            .connectTimeout(timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        return try await ProxyEndpoint.connect(
            to: self.configuration.host,
            port: port,
            through: self.configuration.proxy,
            deadline: NIODeadline.now() + timeout,
            on: group.any()
        ) { bootstrap.connect(host: $0, port: $1) }
        .flatMapThrowing { channel in
            try self.addHandlers(to: channel, connect: connect, time: time, events: events, unread)
            return channel
        }
        .get()
    }

    private func addHandlers(
        to channel: any Channel,
        connect: DeviceLinkConnectRequest,
        time: any TimeSource,
        events: AsyncStream<DeviceLinkClientHandler.Event>.Continuation,
        _ unread: UnreadBytes
    ) throws {
        var limits = DeviceLinkClientStateMachine.Limits()
        limits.keepAlive = self.configuration.keepAlive
        limits.connect = self.configuration.connectTimeout
        let name = self.configuration.host.serverName
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(NIOSSLClientHandler(context: self.tls, serverHostname: name))
        let handler = DeviceLinkClientHandler(
            limits: limits,
            connect: connect,
            time: time,
            events: events,
            unread: unread
        )
        // The connection is not read any further while the service takes no acknowledgements.
        try pipeline.addHandlers([BackPressureHandler(), handler])
    }
}
