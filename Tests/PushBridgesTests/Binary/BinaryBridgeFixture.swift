import Foundation
import NIOSSL
import ProviderAPI
import PushHTTP
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushBridges

/// A provider with the listeners for old providers, over a scripted push service.
struct BinaryBridgeFixture: Sendable {
    let provider: RunningProvider
    let service: ScriptedSender
    /// What is sent, in its order.
    let sent: AsyncStream<ScriptedSender.Sent>
    let ports: BinaryBridgeService.Ports
    let certificate: PushCertificate

    /// Returns the configuration of listeners on free ports.
    /// - Parameter directory: The directory of their files.
    static func configuration(in directory: String) throws -> BinaryBridgeConfiguration {
        let own = try SelfSignedCertificate.shared.get()
        let files = TLSFiles(certificate: "\(directory)/server.pem", key: "\(directory)/server.key")
        try own.pem.write(toFile: files.certificate, atomically: true, encoding: .utf8)
        try own.key.write(toFile: files.key, atomically: true, encoding: .utf8)
        var configuration = BinaryBridgeConfiguration(tls: files)
        (configuration.binaryPort, configuration.feedbackPort) = (0, 0)
        configuration.handshake = .patience
        return configuration
    }

    /// Runs a provider with the vectors' app and a bridge for a certificate of it.
    static func run(
        settings: [String: JSONValue] = [:],
        limits: [PushSupport.BudgetedResource: BudgetLimits] = [:],
        configure: (inout BinaryBridgeConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (BinaryBridgeFixture) async throws -> Void
    ) async throws {
        let certificate = try PushCertificate()
        try await withTemporaryDirectory { directory in
            var configuration = try Self.configuration(in: directory)
            configure(&configuration)
            let service = ScriptedSender()
            let (sent, continuation) = AsyncStream.makeStream(of: ScriptedSender.Sent.self)
            service.onSend { continuation.yield($0) }
            let bridge = Box()
            try await withProvider(
                senders: service,
                time: ManualTime(),
                addition: { [configuration] parts in
                    let bridges = try Bridges(parts, BridgesConfiguration(binary: configuration))
                    bridge.service.withLock { $0 = bridges.binary }
                    return bridges
                },
                configure: { $0.budgetLimits.merge(limits) { $1 } }
            ) { provider in
                try await provider.addVectorsApp(in: [.sandbox])
                let names: [String: JSONValue] = ["certificates": [.string(certificate.fingerprint)]]
                try await provider.api.put(
                    "/v1/apps/\(Vectors.bundleID)/bridges/binary/\(Vectors.bundleID)",
                    ["environment": "sandbox", "settings": .object(names.merging(settings) { $1 })]
                )
                let listeners = try #require(bridge.service.withLock { $0 })
                let ports = try await listeners.ports()
                try await body(
                    BinaryBridgeFixture(
                        provider: provider,
                        service: service,
                        sent: sent,
                        ports: ports,
                        certificate: certificate
                    )
                )
            }
        }
    }

    /// Hands the bridge from the provider to the test.
    private final class Box: Sendable {
        let service = Mutex<BinaryBridgeService?>(nil)
    }

    /// Connects an old provider.
    func connect(
        _ certificate: PushCertificate? = nil,
        from address: String = "127.0.0.1"
    ) async throws -> RawConnection {
        let tls = try self.tls(certificate)
        return try await RawConnection.open(port: self.ports.binary ?? 0, tls: tls, from: address)
    }

    /// Writes bytes as an old provider, and returns what it gets until the end of the connection.
    func exchange(_ bytes: [UInt8], _ certificate: PushCertificate? = nil) async throws -> [UInt8] {
        let connection = try await self.connect(certificate)
        connection.write(bytes)
        // The bridge may have closed it already.
        try? await connection.closeOutput()
        return await connection.readToEnd()
    }

    /// Reads the feedback list.
    func feedback(_ certificate: PushCertificate? = nil) async throws -> [UInt8] {
        let connection = try await RawConnection.open(port: self.ports.feedback ?? 0, tls: try self.tls(certificate))
        return try await connection.readToOrderlyEnd()
    }

    private func tls(_ certificate: PushCertificate?) throws -> TLSConfiguration {
        try (certificate ?? self.certificate).client(trusting: SelfSignedCertificate.shared.get().pem)
    }
}
