import Foundation
import Logging
import NIOCore
import NIOSSL
import PushHTTP
import PushSupport
import PushTypes
import PushWire

/// The TLS doors of one environment.
struct EnvironmentListeners: Sendable {
    /// A feedback connection remembers what it wrote until it is read.
    private static let feedbackConnections = 100

    let http2: Listener
    let courier: Listener
    let binary: Listener
    let feedback: Listener

    init(
        _ environment: PushEnvironment,
        authorities: Authorities,
        configuration: GatewayConfiguration,
        faults: FaultPlan,
        unproven: UnauthenticatedConnections,
        time: any TimeSource,
        logger: Logger
    ) throws {
        let limits = configuration.limits
        let now = Date(timeIntervalSince1970: Double(time.now.seconds))
        let expired = try authorities.server.expired(authority: authorities.gateway, now: now)
        func listener(
            _ door: FaultListener,
            _ name: String,
            limits: GatewayConfiguration.Limits,
            watchesHandshake: Bool = true,
            checksCertificates: Bool = true,
            allowsHalfClosure: Bool = false,
            _ configure: (TLSConfiguration) throws -> TLSConfiguration
        ) throws -> Listener {
            try Listener(
                name: "\(environment.rawValue) \(name)",
                tls: try configure(authorities.server.tlsConfiguration(protocols: [])),
                limits: limits,
                watchesHandshake: watchesHandshake,
                checksCertificates: checksCertificates,
                allowsHalfClosure: allowsHalfClosure,
                unproven: unproven,
                faults: ConnectionFaults(
                    plan: faults,
                    door: door,
                    environment: environment,
                    expiredTLS: NIOSSLContext(
                        configuration: try configure(expired.tlsConfiguration(protocols: []))
                    ),
                    time: time
                ),
                logger: logger
            )
        }
        var few = limits
        few.connections = min(limits.connections, Self.feedbackConnections)
        let legacy: (TLSConfiguration) throws -> TLSConfiguration = {
            LegacyTLS.configuration(
                server: $0,
                providerAuthority: try authorities.providers.trustRoots,
                allowsOldTLS: configuration.allowsOldTLS
            )
        }
        self.http2 = try listener(
            .http2,
            "HTTP/2",
            limits: limits,
            checksCertificates: false,
            allowsHalfClosure: true
        ) {
            try Self.provider($0, authorities)
        }
        self.courier = try listener(.courier, "courier", limits: limits, watchesHandshake: false) {
            try Self.device($0, authorities)
        }
        self.binary = try listener(.binary, "binary", limits: limits, allowsHalfClosure: true) {
            var tls = try legacy($0)
            // The client has had its time to read the error packet (``BinaryServerStateMachine/Limits/drain``).
            tls.shutdownTimeout = .milliseconds(100)
            return tls
        }
        self.feedback = try listener(.feedback, "feedback", limits: few, legacy)
    }

    /// A provider may show a certificate. It is checked after the handshake, so that a bad one gets its reason.
    private static func provider(_ server: TLSConfiguration, _ authorities: Authorities) throws -> TLSConfiguration {
        var tls = server
        tls.cipherSuiteValues = CipherSuites.http2
        tls.applicationProtocols = ["h2"]
        tls.certificateVerification = .optionalVerification
        tls.trustRoots = .certificates(try authorities.providers.trustRoots)
        tls.sendCANameList = true
        return tls
    }

    /// A device may show its certificate in the handshake, but need not (courier reference, "Transport").
    private static func device(_ server: TLSConfiguration, _ authorities: Authorities) throws -> TLSConfiguration {
        var tls = server
        tls.applicationProtocols = ["apns-security-v3"]
        tls.certificateVerification = .optionalVerification
        tls.trustRoots = .certificates(try authorities.devices.trustRoots)
        return tls
    }

    func bind(_ core: EnvironmentCore, _ doors: GatewayConfiguration.Doors) async throws -> GatewayAddresses.Doors {
        GatewayAddresses.Doors(
            http2: try await self.http2.bind(doors.http2, initialize: core.providerDoor.initialize),
            courier: try await self.courier.bind(doors.courier, initialize: core.courierDoor.initialize),
            binary: try await self.binary.bind(doors.binary, initialize: core.binaryDoor.initialize),
            feedback: try await self.feedback.bind(doors.feedback, initialize: core.feedbackDoor.initialize)
        )
    }

    /// Tells how many connections there are, and how many there may be.
    func addGauges(to gauges: GaugeRegistry, _ environment: PushEnvironment) {
        let listeners = [
            ("http2", self.http2), ("courier", self.courier), ("binary", self.binary), ("feedback", self.feedback),
        ]
        for (door, listener) in listeners {
            let labels = ["door": door, "environment": environment.rawValue]
            gauges.add(.connections, labels) { listener.connections }
            gauges.add(.connectionsLimit, labels) { listener.maximumConnections }
        }
    }

    /// Providers may finish what they began; devices get again what they have not acknowledged.
    func close() async {
        await withTaskGroup(of: Void.self) { group in
            for listener in [self.http2, self.binary, self.feedback] {
                group.addTask { await listener.close(draining: true) }
            }
        }
        await self.courier.close(draining: false)
    }
}
