import Foundation

/// What went wrong, in words: Foundation's own description prints its insides.
package enum ErrorText {
    package static func of(_ error: any Error) -> String {
        guard let error = error as? CocoaError else { return "\(error)" }
        return (error.underlying as? POSIXError)?.localizedDescription ?? error.localizedDescription
    }
}
