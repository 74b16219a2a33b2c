import Hummingbird
import PushHTTP
import PushTypes
import Synchronization

/// The addresses of the listeners, which are known once they are open.
final class OpenListeners: Sendable {
    private let addresses = Mutex(GatewayAddresses())

    var current: GatewayAddresses { self.addresses.withLock { $0 } }

    func set(_ addresses: GatewayAddresses) { self.addresses.withLock { $0 = addresses } }
}

/// `GET /v1/status`: the open listeners, and the numbers of devices, messages and events.
struct StatusController: Controller {
    let doors: OpenListeners
    let configuration: GatewayConfiguration
    let devices: DeviceRegistry
    let environments: [EnvironmentCore]
    let events: EventLog

    /// The state of the gateway.
    private struct Status: Encodable {
        var status = "ok"
        var dataDirectory: String
        var admin: String
        var devices: Int
        var events: Int
        var environments: [Environment]
    }

    /// The state of one environment.
    private struct Environment: Encodable {
        var environment: String
        /// The address of each listener, as `HOST:PORT`.
        var doors: [String: String]
        var devicesOnline: Int
        var unacknowledged: Int
        var stored: Int
    }

    var operations: [AdminOperation] {
        [
            .init(
                .get,
                "/v1/status",
                id: "status",
                "The open listeners, and the numbers of devices, messages and events.",
                self.show
            )
        ]
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let open = self.doors.current
        var environments: [Environment] = []
        for core in self.environments {
            let load = core.router.load
            environments.append(
                Environment(
                    environment: core.environment.rawValue,
                    doors: self.addresses(core.environment, open),
                    devicesOnline: load.sessions,
                    unacknowledged: load.unacknowledged,
                    stored: try await core.storedMessages()
                )
            )
        }
        return try .json(
            Status(
                dataDirectory: self.configuration.dataDirectory,
                admin: "\(ListenAddress(host: self.configuration.admin.host, port: open.admin))",
                devices: self.devices.count,
                events: try await self.events.stored(),
                environments: environments
            )
        )
    }

    private func addresses(_ environment: PushEnvironment, _ open: GatewayAddresses) -> [String: String] {
        guard let configured = self.configuration.listeners[environment], let ports = open.ports[environment] else {
            return [:]
        }
        let listeners = [
            ("http2", configured.http2.host, ports.http2), ("courier", configured.deviceLink.host, ports.deviceLink),
            ("binary", configured.binary.host, ports.binary), ("feedback", configured.feedback.host, ports.feedback),
        ]
        // A listener that is not open has no port.
        let addresses = listeners.filter { $0.2 > 0 }.map { ($0.0, "\(ListenAddress(host: $0.1, port: $0.2))") }
        return Dictionary(addresses) { $1 }
    }
}
