import PushStore
import PushSupport

/// Assembles a compiled payload for one device.
struct PayloadAssembler {
    let profile: RecipientProfile
    /// The badge count to show, or `nil` for no badge.
    let badge: Int?
    /// The positions of the attributes' values, in the order of the compiler's names.
    let values: [AttributeScanner.Value?]

    /// The number of bytes for which memory is reserved per value.
    private static let usualValue = 32

    /// Returns the payload for the device.
    /// - Parameter attributes: The JSON text to which the positions in ``values`` refer.
    func fill(_ payload: CompiledPayload, attributes: Span<UInt8>) throws(RenderFailure) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(payload.literalCount + Self.usualValue * payload.segments.count)
        for segment in payload.segments {
            switch segment {
            case .literal(let bytes): output += bytes
            case .badge(let hasNext, let isAlone):
                if let badge = self.badge {
                    Self.append(badge: badge, hasNext: hasNext, to: &output)
                } else if isAlone {
                    throw .missingBadge
                }
            case .variable(let name, let source, let fallback):
                let before = output.count
                let hasValue = self.append(source, attributes, to: &output)
                guard output.count == before else { continue }
                if let fallback {
                    output += fallback
                } else if !hasValue {
                    throw .missingValue(name)
                }
            }
        }
        return output
    }

    /// Returns the payload at its minimum length, with variables at their default or empty, and a badge of one digit.
    static func sample(_ payload: CompiledPayload) -> [UInt8] {
        var output: [UInt8] = []
        for segment in payload.segments {
            switch segment {
            case .literal(let bytes): output += bytes
            case .badge(let hasNext, _): Self.append(badge: 1, hasNext: hasNext, to: &output)
            case .variable(_, _, let fallback): output += fallback ?? []
            }
        }
        return output
    }

    private static func append(badge: Int, hasNext: Bool, to output: inout [UInt8]) {
        output += #""badge":"#.utf8
        output += String(badge).utf8
        if hasNext { output.append(UInt8(ascii: ",")) }
    }

    /// Appends the value of a variable.
    /// - Returns: `true` if the device has a value, which may be empty, and `false` otherwise.
    private func append(_ source: CompiledPayload.Source, _ attributes: Span<UInt8>, to output: inout [UInt8]) -> Bool {
        switch source {
        case .user: Self.append(self.profile.user, to: &output)
        case .locale: Self.append(self.profile.locale, to: &output)
        case .timeZone: Self.append(self.profile.timeZone, to: &output)
        case .appVersion: Self.append(self.profile.appVersion, to: &output)
        case .attribute(let index): self.append(index, attributes, to: &output)
        }
    }

    private func append(_ index: Int, _ attributes: Span<UInt8>, to output: inout [UInt8]) -> Bool {
        guard self.values.indices.contains(index), let value = self.values[index] else { return false }
        switch value {
        case .token(let range), .string(let range, isPlain: true):
            // A plain string needs no escapes, and each of its bytes is a character.
            for index in range.prefix(ContentRenderer.maximumValue) { output.append(attributes[index]) }
            return true
        case .string(let range, isPlain: false):
            return Self.append(JSONUnescaping.text(range.map { attributes[$0] }), to: &output)
        }
    }

    private static func append(_ text: String?, to output: inout [UInt8]) -> Bool {
        guard let text else { return false }
        JSONWriter.append(charactersOf: Self.cut(text), to: &output)
        return true
    }

    /// Returns the longest prefix of whole characters with at most ``ContentRenderer/maximumValue`` bytes of UTF-8.
    private static func cut(_ text: String) -> Substring {
        guard text.utf8.count > ContentRenderer.maximumValue else { return text[...] }
        var size = 0
        return text.prefix { character in
            size += character.utf8.count
            return size <= ContentRenderer.maximumValue
        }
    }
}
