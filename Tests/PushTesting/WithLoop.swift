import Foundation
package import ProviderAPI
package import PushDevice
import PushGateway
import PushProvider
import PushSender
package import PushSupport
import PushTypes
import ServiceLifecycle

/// Gateway and provider, running and knowing each other, for devices to come and go.
package struct RunningLoop: Sendable {
    package let gateway: RunningGateway
    package let provider: RunningProvider
    package let time: any TimeSource
    /// The proxy of provider and devices.
    package let proxy: ProxyEndpoint?

    /// A new device, not connected.
    package func activate() async throws -> DeviceIdentity {
        let url = "http://127.0.0.1:\(self.gateway.addresses.admin)"
        return try await DeviceActivation(adminURL: url, timeout: .patience).activate(name: "test")
    }

    /// Connects a device for the duration of `body`.
    package func withDevice<Value: Sendable>(
        _ identity: DeviceIdentity,
        _ body: @escaping @Sendable (Device) async throws -> Value
    ) async throws -> Value {
        let port = self.gateway.addresses.main.deviceLink
        return try await withDeviceConnected(to: port, through: self.proxy, identity, time: self.time, body)
    }
}

/// Connects a device to a courier door for the duration of `body`.
@discardableResult
package func withDeviceConnected<Value: Sendable>(
    to port: Int,
    through proxy: ProxyEndpoint? = nil,
    _ identity: DeviceIdentity,
    time: any TimeSource,
    _ body: @escaping @Sendable (Device) async throws -> Value
) async throws -> Value {
    var configuration = DeviceConfiguration(port: port)
    configuration.proxy = proxy
    configuration.bePatient()
    configuration.reconnectBase = .milliseconds(10)
    configuration.reconnectMaximum = .milliseconds(100)
    let device = Device(identity: identity, configuration: configuration, time: time, logger: silentLogger)
    return try await withServices([device]) { try await body(device) }
}

/// Runs the whole loop on free ports with the vectors' app and key on both sides.
/// - Parameter proxy: The proxy through which provider and devices connect to the gateway.
package func withLoop<Value: Sendable>(
    through proxy: ProxyEndpoint? = nil,
    time: any TimeSource = SystemTime(),
    addition: @escaping @Sendable (ProviderComponents) throws -> (any ProviderExtension)? = { _ in nil },
    configure: @escaping @Sendable (inout ProviderConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (RunningLoop) async throws -> Value
) async throws -> Value {
    try await withTemporaryDirectory { directory in
        try await withGateway(in: "\(directory)/gateway", time: time) { gateway in
            try await gateway.registerVectors()
            let endpoint = PushServiceEndpoint(
                host: "localhost",
                port: gateway.addresses.main.http2,
                additionalTrustRoots: gateway.gateway.authorityPEM
            )
            var configuration = SenderConfiguration.patient
            configuration.proxy = proxy
            let pool = try SenderPool(
                endpoints: [.sandbox: endpoint.patient],
                configuration: configuration,
                time: time,
                logger: silentLogger
            )
            return try await withServices([pool]) {
                let admin = GatewayEventClient(url: "http://127.0.0.1:\(gateway.addresses.admin)")?.patient
                return try await withProvider(
                    senders: pool,
                    time: time,
                    addition: addition,
                    configure: {
                        $0.gatewayEvents = admin
                        configure(&$0)
                    }
                ) { provider in
                    try await provider.addVectorsApp(in: [.sandbox])
                    return try await body(RunningLoop(gateway: gateway, provider: provider, time: time, proxy: proxy))
                }
            }
        }
    }
}
