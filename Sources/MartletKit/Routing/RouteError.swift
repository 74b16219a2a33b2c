/// The reason for which a payload opens the fallback instead of a screen.
///
/// Its description is for the log. It holds names, shortened and without control characters, and no values, because these may
/// be private.
public struct RouteError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// No screen has the class.
        case unknownClass
        /// No screen's path matches.
        case unknownPath
        /// The screen has no parameter of a name in the payload.
        case unknownProperty
        /// A required value is not in the payload.
        case missingProperty
        /// A value is of another type than declared.
        case wrongType
        /// A value is outside its limits, or not one of the choices.
        case notAllowed
        /// A value contains lists or objects, or a path has too many segments.
        case tooDeep
        /// A text is too long, or there are too many values.
        case tooLong
        /// The members of the payload do not go together, or a path cannot be decoded.
        case malformed
        /// A rule of the app refused.
        case rule
    }

    public let reason: Reason
    public let description: String

    init(_ reason: Reason, _ description: String) { (self.reason, self.description) = (reason, description) }

    /// A refusal by a rule of the app.
    public init(_ description: String) { self.init(.rule, description) }
}

extension String {
    /// `true` for the same bytes. Swift takes texts for equal that Unicode does, such as K and the sign of the unit kelvin.
    func isSame(as other: String) -> Bool { self.utf8.elementsEqual(other.utf8) }

    /// The text for a log: at most 64 characters, and `?` for control characters.
    var forLog: String {
        let scalars = self.unicodeScalars.prefix(64).map { scalar in
            switch scalar.properties.generalCategory {
            // Also what reverses the direction of a line or breaks it.
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                Unicode.Scalar("?")
            default: scalar
            }
        }
        var text = String.UnicodeScalarView(scalars)
        if self.unicodeScalars.count > 64 { text.append("…") }
        return String(text)
    }
}
