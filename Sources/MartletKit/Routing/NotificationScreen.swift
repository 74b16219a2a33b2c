/// A screen of the app that a notification may open.
///
/// It has a class, a path or both. A fallback may have neither.
public struct NotificationScreen: Hashable, Sendable {
    /// The name under which the app knows it, 1 to 64 letters, digits, `-`, `.` and `_`.
    public let name: String
    /// The text that a payload's `class` has for it, at most 128 bytes.
    public let `class`: String?
    /// The pattern of its path: `/orders/:id`, where `:id` is the place of the parameter `id`.
    public let path: String?
    public let parameters: [Parameter]

    public init(name: String, class: String? = nil, path: String? = nil, parameters: [Parameter] = []) {
        (self.name, self.class, self.path, self.parameters) = (name, `class`, path, parameters)
    }

    /// A value that the screen takes: a member of a payload's `property`, or a part of its `path`.
    public struct Parameter: Hashable, Sendable {
        public let name: String
        public let isRequired: Bool
        let type: ValueType

        /// A text without control characters other than line breaks and tabs.
        /// - Parameter maximumLength: 1 to 4096 bytes of UTF-8.
        public static func text(_ name: String, maximumLength: Int = 256, isRequired: Bool = true) -> Parameter {
            Parameter(name: name, isRequired: isRequired, type: .text(maximumLength: maximumLength))
        }

        /// A whole number.
        public static func integer(
            _ name: String,
            in range: ClosedRange<Int64> = .min ... .max,
            isRequired: Bool = true
        ) -> Parameter {
            Parameter(name: name, isRequired: isRequired, type: .integer(range))
        }

        /// A number, with a fraction or without.
        public static func number(
            _ name: String,
            in range: ClosedRange<Double> = -.greatestFiniteMagnitude ... .greatestFiniteMagnitude,
            isRequired: Bool = true
        ) -> Parameter {
            Parameter(name: name, isRequired: isRequired, type: .number(range))
        }

        /// `true` or `false`.
        public static func boolean(_ name: String, isRequired: Bool = true) -> Parameter {
            Parameter(name: name, isRequired: isRequired, type: .boolean)
        }

        /// A time: a text of RFC 3339, or seconds since 1970, in the years 1 to 9999.
        public static func date(_ name: String, isRequired: Bool = true) -> Parameter {
            Parameter(name: name, isRequired: isRequired, type: .date)
        }

        /// A UUID in its usual form, in letters of any case.
        public static func uuid(_ name: String, isRequired: Bool = true) -> Parameter {
            Parameter(name: name, isRequired: isRequired, type: .uuid)
        }

        /// One of the texts of a list, 1 to 100 of at most 64 bytes each.
        public static func choice(_ name: String, of choices: [String], isRequired: Bool = true) -> Parameter {
            Parameter(name: name, isRequired: isRequired, type: .choice(choices))
        }
    }

    /// The type of a parameter, with its limits.
    enum ValueType: Hashable, Sendable {
        case text(maximumLength: Int)
        case integer(ClosedRange<Int64>)
        case number(ClosedRange<Double>)
        case boolean
        case date
        case uuid
        case choice([String])
    }
}
