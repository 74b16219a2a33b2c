import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// Runs the services of a command, and shuts them down gracefully.
enum ServiceRunner {
    /// The time limit of a graceful shutdown, after which services that are still running are cancelled.
    static let longestShutdown: Duration = .seconds(15)
    /// The time limit for cancelled services to finish. After it, the process exits nevertheless.
    static let longestCancellation: Duration = .seconds(1)

    /// Runs services until one of them finishes or a signal requests the shutdown of the process.
    /// - Parameters:
    ///   - services: The services, each of which may use those before it. They are shut down in reverse order.
    ///   - last: A further service to run, whose completion shuts down all others, or `nil` if there is none.
    ///   - ready: A closure that returns once the services accept requests, after which the service manager is
    ///     notified. It is `nil` for a command that accepts no requests.
    /// - Throws: The error of the service that has failed.
    static func run(
        _ services: [any Service],
        until last: (any Service)? = nil,
        ready: (@Sendable () async throws -> Void)? = nil,
        logger: Logger
    ) async throws {
        var all = services.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0) }
        if let ready, let manager = ServiceManager() {
            all.append(.init(service: ServiceManagerReport(manager: manager, ready: ready, logger: logger)))
        }
        if let last { all.append(.init(service: last, successTerminationBehavior: .gracefullyShutdownGroup)) }
        // The last service is the first to be shut down.
        all.append(.init(service: ShutdownDeadline(logger: logger)))
        var configuration = ServiceGroupConfiguration(
            services: all,
            gracefulShutdownSignals: [.sigint, .sigterm],
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = Self.longestShutdown
        try await ServiceGroup(configuration: configuration).run()
    }
}

/// A service that terminates the process when a graceful shutdown takes too long, for example because a push service
/// does not respond to pushes in flight. Unfinished work is lost as after a crash.
private struct ShutdownDeadline: Service {
    let logger: Logger

    func run() async throws {
        // Cancellation means that a service has failed and the group is ending.
        guard (try? await gracefulShutdown()) != nil else { return }
        Task.detached {
            try await Task.sleep(for: ServiceRunner.longestShutdown + ServiceRunner.longestCancellation)
            self.logger.warning("shutdown deadline exceeded; the process ends with work in flight")
            _exit(0)
        }
    }
}

/// The service manager that started the process, such as systemd for a unit of the type `notify`.
struct ServiceManager: Sendable {
    /// A state of the process, as a message to the service manager.
    enum State: String {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
    }

    /// The path of the service manager's socket. A leading `@` stands for the abstract namespace.
    private let socketPath: String

    /// Finds the service manager by the variable `NOTIFY_SOCKET`. Returns `nil` if the variable is not set, because no
    /// service manager then expects reports.
    init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@") else { return nil }
        self.socketPath = path
    }

    /// Sends a state to the service manager.
    /// - Throws: ``POSIXError`` if the state cannot be sent.
    func report(_ state: State) throws {
        #if os(Linux)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var path = Array(self.socketPath.utf8)
        if path.first == UInt8(ascii: "@") { path[0] = 0 }
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { throw POSIXError(.ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Self.error() }
        defer { close(descriptor) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let message = Array(state.rawValue.utf8)
        let sent = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
        guard sent == message.count else { throw Self.error() }
        #endif
    }

    private static func error() -> POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}

/// A service that reports to the service manager when the other services accept requests, and when they shut down.
struct ServiceManagerReport: Service {
    let manager: ServiceManager
    let ready: @Sendable () async throws -> Void
    let logger: Logger

    func run() async throws {
        // A service that could not start throws its own error, which ends the group and this wait.
        if (try? await self.ready()) != nil { self.report(.ready) }
        guard (try? await gracefulShutdown()) != nil else { return }
        self.report(.stopping)
    }

    private func report(_ state: ServiceManager.State) {
        do {
            try self.manager.report(state)
        } catch {
            self.logger.warning("the service manager cannot be told the state", metadata: ["error": "\(error)"])
        }
    }
}
