/// Why a gateway cannot start.
package enum GatewayError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A door's address is taken or not this machine's.
    case cannotListen(door: String, address: String, why: String)
    /// A file in the data directory is not what the gateway wrote there.
    case badFile(path: String, why: String)
    /// Another gateway works in this data directory.
    case dataDirectoryInUse(String)
    /// The admin door asks for no login and must not be reachable from elsewhere.
    case adminNotLoopback(String)
    /// A fault that was asked for at start makes no sense.
    case badFault(String, why: String)
    /// The gateway ended before its doors were open.
    case ended

    package var description: String {
        switch self {
        case .cannotListen(let door, let address, let why): "the \(door) door cannot listen on \(address): \(why)"
        case .badFile(let path, let why): "\(path) cannot be used: \(why)"
        case .dataDirectoryInUse(let path): "another gateway is using the data directory \(path)"
        case .adminNotLoopback(let host):
            "the admin door asks for no login, so it listens on 127.0.0.1, ::1 or localhost only, not on \(host)"
        case .badFault(let text, let why): "the fault '\(text)' cannot be used: \(why)"
        case .ended: "the gateway ended before its doors were open"
        }
    }
}
