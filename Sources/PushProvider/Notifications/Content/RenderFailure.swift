/// The reason for which no payload can be rendered for a device. Another try would not help.
package enum RenderFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The device has no value for this variable, and the variable no default.
    case missingValue(String)
    /// The stored content cannot be decoded: no device can get anything.
    case damagedContent
    /// The device's attributes are not a JSON object.
    case damagedAttributes
    /// The payload shows nothing but a badge, and there is no count for the device.
    case missingBadge
    /// The payload exceeds the limit of its push type. Both numbers are in bytes.
    case tooLarge(size: Int, limit: Int)

    /// The reason in the ledger. It never holds a device's value.
    package var description: String {
        switch self {
        case .missingValue(let name): "the device has no value for {{\(name)}}, which has no default"
        case .damagedContent: "the stored content cannot be read"
        case .damagedAttributes: "the device's attributes cannot be read"
        case .missingBadge: "there is no badge count for this device and nothing else to show"
        case .tooLarge(let size, let limit): "the payload would have \(size) bytes, the limit is \(limit)"
        }
    }
}
