import Hummingbird
import PushHTTP
import PushTypes
import Synchronization

/// The addresses of the doors, known once they are open.
final class OpenListeners: Sendable {
    private let addresses = Mutex(GatewayAddresses())

    var current: GatewayAddresses { self.addresses.withLock { $0 } }

    func set(_ addresses: GatewayAddresses) { self.addresses.withLock { $0 = addresses } }
}

/// `GET /v1/status`: which doors are open, and how much there is.
struct StatusController: AdminRoutes {
    let doors: OpenListeners
    let configuration: GatewayConfiguration
    let devices: DeviceRegistry
    let environments: [EnvironmentCore]
    let events: EventLog

    private struct Status: Encodable {
        var status = "ok"
        var dataDirectory: String
        var admin: String
        var devices: Int
        var events: Int
        var environments: [Environment]
    }

    private struct Environment: Encodable {
        var environment: String
        /// HOST:PORT of each.
        var doors: [String: String]
        var devicesOnline: Int
        var unacknowledged: Int
        var stored: Int
    }

    func addRoutes(to group: RouterGroup<AdminContext>) {
        group.get("status", use: self.show)
    }

    @Sendable private func show(_ request: Request, _ context: AdminContext) async throws -> Response {
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
        return try JSONResponse.make(
            .ok,
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
        let doors = [
            ("http2", configured.http2.host, ports.http2), ("courier", configured.deviceLink.host, ports.deviceLink),
            ("binary", configured.binary.host, ports.binary), ("feedback", configured.feedback.host, ports.feedback),
        ]
        // A door that is not open has no port.
        let addresses = doors.filter { $0.2 > 0 }.map { ($0.0, "\(ListenAddress(host: $0.1, port: $0.2))") }
        return Dictionary(addresses) { $1 }
    }
}
