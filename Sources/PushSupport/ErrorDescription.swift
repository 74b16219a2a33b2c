import Foundation
import NIOCore
import NIOPosix

/// Describes errors in sentences, because errors of Foundation and swift-nio describe only their structure.
package enum ErrorDescription {
    /// Returns the operating system's description of an error of Foundation or swift-nio, or the error's own text.
    package static func of(_ error: any Error) -> String {
        switch error {
        case let error as IOError: return String(cString: strerror(error.errnoCode))
        case let error as SocketAddressError.UnknownHost:
            return "the host name '\(error.host)' cannot be resolved: \(error.errorDescription)"
        case let error as NIOConnectionError: return self.text(of: error)
        case ChannelError.connectTimeout(let time): return "no connection within \(time.nanoseconds / 1_000_000_000) s"
        case is DecodingError: return "it is not JSON, or lacks a member"
        case let error as CocoaError: return Self.text(of: error)
        default: return "\(error)"
        }
    }

    private static func text(of error: NIOConnectionError) -> String {
        if let dns = error.dnsAError ?? error.dnsAAAAError {
            let reason = (dns as? SocketAddressError.UnknownHost)?.errorDescription ?? "\(dns)"
            return "\(error.host) has no address: \(reason)"
        }
        guard let first = error.connectionErrors.first?.error else { return "no connection to \(error.host)" }
        return self.of(first)
    }

    /// Returns the description of the cause that Foundation has wrapped, without the sentence that precedes it.
    private static func text(of error: CocoaError) -> String {
        if let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError, cause.domain == NSPOSIXErrorDomain {
            return String(cString: strerror(Int32(truncatingIfNeeded: cause.code)))
        }
        return switch error.code {
        case .fileReadNoSuchFile, .fileNoSuchFile: String(cString: strerror(ENOENT))
        case .fileReadNoPermission, .fileWriteNoPermission: String(cString: strerror(EACCES))
        case .fileWriteOutOfSpace: String(cString: strerror(ENOSPC))
        default: error.localizedDescription
        }
    }
}
