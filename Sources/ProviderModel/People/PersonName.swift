import Foundation
package import PushSupport

/// The rules for the names with which people sign in.
package enum PersonName {
    /// Checks a name, and returns it without spaces around it.
    ///
    /// - Parameter path: The path of the member with the name, for an error.
    /// - Throws: ``RequestError`` for a name that is empty or too long, or has characters that cannot be seen.
    package static func check(_ text: String, at path: String = "name") throws(RequestError) -> String {
        let name = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !name.isEmpty, name.utf8.count <= PersonRecord.maximumName,
            name.unicodeScalars.allSatisfy(Self.isPrintable)
        else {
            let message =
                "a name has 1 to \(PersonRecord.maximumName) bytes, without line ends and characters that cannot be seen"
            throw RequestError(.invalid, code: "invalid_name", message: message, path: path)
        }
        return name
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        // With blank letters, such as U+3164, or the braille pattern without dots, two names that differ would look the
        // same.
        guard !scalar.properties.isDefaultIgnorableCodePoint, scalar != "\u{2800}" else { return false }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
