import PushSupport

/// An error at the start of a gateway.
package enum GatewayError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The address of a listener is in use or does not belong to this machine.
    case cannotListen(listener: String, address: String, why: String)
    /// A file in the data directory has content that the gateway has not written.
    case badFile(path: String, why: String)
    /// Another gateway uses this data directory.
    case dataDirectoryInUse(String)
    /// The admin API has no login and must not be reachable from other machines.
    case adminNotLoopback(String)
    /// A fault in the configuration is invalid.
    case badFault(String, why: String)
    /// The gateway ended before its listeners were open.
    case ended

    static func cannotListen(_ listener: String, _ address: ListenAddress, _ error: any Error) -> GatewayError {
        .cannotListen(listener: listener, address: "\(address)", why: ErrorDescription.of(error))
    }

    package var description: String {
        switch self {
        case .cannotListen(let listener, let address, let why):
            "the \(listener) listener cannot use \(address): \(why)"
        case .badFile(let path, let why): "\(path) cannot be used: \(why)"
        case .dataDirectoryInUse(let path): "another gateway is using the data directory \(path)"
        case .adminNotLoopback(let host):
            "the admin API has no login, so it listens on 127.0.0.1, ::1 or localhost only, not on \(host)"
        case .badFault(let text, let why): "the fault '\(text)' cannot be used: \(why)"
        case .ended: "the gateway ended before its listeners were open"
        }
    }
}
