import Foundation
import Logging
import ServiceLifecycle

/// The service manager that started the process, such as systemd for a unit of the type `notify`.
struct ServiceManager: Sendable {
    /// A state of the process, in the service manager's words.
    enum State: String {
        /// The services serve requests.
        case ready = "READY=1"
        /// The process has begun to end.
        case stopping = "STOPPING=1"
    }

    /// The path of the socket that takes states. It begins with `@` if it is in the abstract namespace.
    private let socketPath: String

    /// Returns `nil` if the process was started without a service manager that wants to know its state.
    init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@") else { return nil }
        self.socketPath = path
    }

    /// Sends a state to the service manager.
    /// - Throws: ``POSIXError`` if the socket takes nothing.
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

    private static func error() -> POSIXError {
        POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
}

/// Tells the service manager when the services serve requests, and when they begin to end.
struct ServiceManagerReport: Service {
    let manager: ServiceManager
    /// Returns once the services serve requests.
    let ready: @Sendable () async throws -> Void
    let logger: Logger

    func run() async throws {
        // The service that could not start throws its own error, which ends the group and this wait.
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
