import Hummingbird
import PushHTTP
import PushSupport
import PushTypes
import Synchronization

/// The addresses of the open listeners. They contain no ports until the listeners are bound.
final class OpenListeners: Sendable {
    private let addresses = Mutex(GatewayAddresses())

    var current: GatewayAddresses { self.addresses.withLock { $0 } }

    func set(_ addresses: GatewayAddresses) { self.addresses.withLock { $0 = addresses } }
}

/// The operation at `GET /v1/status`, which reports the open listeners and the numbers of devices, messages and events.
struct AdminStatusController: Controller {
    let configuration: GatewayConfiguration
    let services: RoutingServices
    let environments: [EnvironmentCore]
    let openListeners: OpenListeners

    var operations: [AdminOperation] {
        [
            .get(
                "/v1/status",
                "status",
                "The open listeners, and the numbers of devices, messages and events.",
                self.show
            )
        ]
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let (open, configuration, services) = (self.openListeners.current, self.configuration, self.services)
        var environments: [JSONValue] = []
        for core in self.environments {
            let load = core.router.load
            environments.append(
                .object([
                    "environment": core.environment.json, "doors": self.addresses(core.environment, open).json,
                    "devicesOnline": load.sessions.json, "unacknowledged": load.unacknowledged.json,
                    "stored": try await core.count(.message).json,
                ])
            )
        }
        return try .json([
            "status": "ok".json, "dataDirectory": configuration.dataDirectory.json,
            "admin": "\(ListenAddress(host: configuration.admin.host, port: open.admin))".json,
            "devices": services.devices.count.json, "events": try await services.events.stored().json,
            "environments": environments.json,
        ])
    }

    private func addresses(_ environment: PushEnvironment, _ open: GatewayAddresses) -> [String: String] {
        guard let configured = self.configuration.listeners[environment], let ports = open.ports[environment]
        else {
            return [:]
        }
        // A listener that is not open has no port.
        let open = zip(configured.named, ports.named).filter { $1.value > 0 }
        return Dictionary(open.map { ($0.key, "\(ListenAddress(host: $0.value.host, port: $1.value))") }) { $1 }
    }
}
