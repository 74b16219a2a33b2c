import Foundation
import NIOCore

/// Describes an error in words: the descriptions of Foundation and swift-nio print their insides.
package enum ErrorDescription {
    package static func of(_ error: any Error) -> String {
        if let error = error as? IOError { return String(cString: strerror(error.errnoCode)) }
        guard let error = error as? CocoaError else { return "\(error)" }
        return (error.underlying as? POSIXError)?.localizedDescription ?? error.localizedDescription
    }
}
