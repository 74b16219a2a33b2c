import Foundation
import NIOCore

/// Describes errors for people. The descriptions of Foundation's and swift-nio's errors are those of their structure.
package enum ErrorDescription {
    /// Returns the operating system's text for an error of Foundation or swift-nio, or the error's own description.
    package static func of(_ error: any Error) -> String {
        if let error = error as? IOError { return String(cString: strerror(error.errnoCode)) }
        guard let error = error as? CocoaError else { return "\(error)" }
        return (error.underlying as? POSIXError)?.localizedDescription ?? error.localizedDescription
    }
}
