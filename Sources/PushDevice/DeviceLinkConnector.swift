import Crypto
import Foundation
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

    /// - Throws: ``DeviceError/badIdentity(_:)``.
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

    /// Returns the *Connect* of a connection: the certificate and a new signed nonce (device link reference 4).
    func connectPacket(identity: DeviceIdentity, now: Timestamp) throws -> DeviceLinkConnectRequest {
        let nonce = DeviceLinkNonce(time: now, random: .random(in: .min ... .max)).bytes
        let signature = try self.privateKey.signature(for: nonce)
        return DeviceLinkConnectRequest(
            baseToken: identity.baseToken,
            state: self.configuration.isActive ? .active : .inactive,
            certificate: self.certificate,
            nonce: nonce,
            signature: DeviceLinkSignature.ecdsaP256SHA256 + Array(signature.derRepresentation),
            understandsExtensions: true
        )
    }

    /// Connects, runs `session` to its end and closes the connection.
    /// - Returns: Whether the service had accepted the device.
    func run(_ session: DeviceLinkSession, connect: DeviceLinkConnectRequest, time: any TimeSource) async throws -> Bool
    {
        let (events, continuation) = AsyncStream.makeStream(
            of: DeviceLinkClientHandler.Event.self,
            bufferingPolicy: .bufferingOldest(Device.queueLength)
        )
        let channel = try await self.channel(connect: connect, time: time, events: continuation)
        return await withTaskCancellationHandler {
            let wasConnected = await session.run(events) { packet in
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
        time: any TimeSource,
        events: AsyncStream<DeviceLinkClientHandler.Event>.Continuation
    ) async throws -> any Channel {
        let (host, tls) = (self.configuration.host, self.tls)
        var limits = DeviceLinkClientStateMachine.Limits()
        limits.keepAlive = self.configuration.keepAlive
        limits.connect = self.configuration.connectTimeout
        return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(TimeAmount(self.configuration.connectTimeout))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { [limits] channel in
                channel.eventLoop.makeCompletedFuture {
                    // An IP address is not a server name (RFC 6066 section 3); the certificate must name it all the
                    // same.
                    let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : host))
                    try pipeline.addHandler(
                        DeviceLinkClientHandler(limits: limits, connect: connect, time: time, events: events)
                    )
                }
            }
            .connect(host: host, port: self.configuration.port)
            .get()
    }
}
