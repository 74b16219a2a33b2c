/// Puts a compiled payload together for one device.
struct PayloadFiller {
    let subject: RenderSubject
    /// Of the attributes, in the order of the compiler's names.
    let values: [AttributeScanner.Value?]

    /// Room kept for each value, in bytes.
    private static let usualValue = 32

    /// - Parameter attributes: the text that ``values`` point into.
    func fill(_ payload: CompiledPayload, attributes: Span<UInt8>) throws(RenderFailure) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(payload.literalCount + Self.usualValue * payload.segments.count)
        for segment in payload.segments {
            switch segment {
            case .literal(let bytes): output += bytes
            case .badge(let hasNext, let isAlone):
                if let badge = self.subject.badge {
                    Self.append(badge: badge, hasNext: hasNext, to: &output)
                } else if isAlone {
                    throw .missingBadge
                }
            case .variable(let name, let source, let fallback):
                let before = output.count
                let isThere = self.append(source, attributes, to: &output)
                guard output.count == before else { continue }
                if let fallback {
                    output += fallback
                } else if !isThere {
                    throw .missingValue(name)
                }
            }
        }
        return output
    }

    /// The payload with defaults, with nothing where there is no default, and with a badge of one digit.
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

    /// Whether the device has a value, which may be empty.
    private func append(
        _ source: CompiledPayload.Source,
        _ attributes: Span<UInt8>,
        to output: inout [UInt8]
    ) -> Bool {
        switch source {
        case .user: Self.append(self.subject.user, to: &output)
        case .locale: Self.append(self.subject.locale, to: &output)
        case .timeZone: Self.append(self.subject.timeZone, to: &output)
        case .appVersion: Self.append(self.subject.appVersion, to: &output)
        case .attribute(let slot): self.append(slot, attributes, to: &output)
        }
    }

    private func append(_ slot: Int, _ attributes: Span<UInt8>, to output: inout [UInt8]) -> Bool {
        guard self.values.indices.contains(slot), let value = self.values[slot] else { return false }
        switch value {
        case .token(let range), .string(let range, isPlain: true):
            // What is plain is the same inside any JSON string, and each byte is a character.
            for index in range.prefix(ContentRenderer.maximumValue) { output.append(attributes[index]) }
            return true
        case .string(let range, isPlain: false):
            return Self.append(JSONEscaping.unescaped(range.map { attributes[$0] }), to: &output)
        }
    }

    private static func append(_ text: String?, to output: inout [UInt8]) -> Bool {
        guard let text else { return false }
        JSONEscaping.append(Self.cut(text).utf8, to: &output)
        return true
    }

    /// The first characters of `text` that have ``ContentRenderer/maximumValue`` bytes at most.
    private static func cut(_ text: String) -> Substring {
        guard text.utf8.count > ContentRenderer.maximumValue else { return text[...] }
        var size = 0
        return text.prefix { character in
            size += character.utf8.count
            return size <= ContentRenderer.maximumValue
        }
    }
}
