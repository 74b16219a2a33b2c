import Foundation
import ProviderModel
import PushSupport

/// A payload in the form of segments, from which it is assembled for each device.
struct CompiledPayload {
    enum Source: Hashable {
        case user, locale, timeZone, appVersion
        /// The attribute with this index in ``PayloadCompiler/names``.
        case attribute(Int)
    }

    /// JSON that is the same for every device, or a value that is inserted for each device.
    enum Segment {
        case literal([UInt8])
        /// The value of a variable inside a JSON string. `fallback` is its escaped default, or `nil` if it has none.
        case variable(name: String, source: Source, fallback: [UInt8]?)
        /// The member `badge`, the first member of `aps`. `hasNext` is `true` if `aps` has other members, and `isAlone`
        /// if none of these is an alert or a sound.
        case badge(hasNext: Bool, isAlone: Bool)
    }

    var segments: [Segment] = []
    var literalCount = 0
}

/// Compiles the payloads of one notification, which share one list of attribute names.
struct PayloadCompiler {
    private static let builtIn: [String: CompiledPayload.Source] = [
        "user": .user, "locale": .locale, "timeZone": .timeZone, "appVersion": .appVersion,
    ]

    let hasVariables, hasBadge: Bool
    private(set) var names: [String] = []
    private(set) var sources: Set<CompiledPayload.Source> = []
    private var literal = JSONWriter()
    private var compiled = CompiledPayload()

    init(_ template: PayloadTemplate) {
        self.hasVariables = template.hasVariables
        self.hasBadge = template.badge != nil
    }

    /// Compiles the payload for one locale.
    /// - Throws: ``PayloadTemplate/Damage`` for a variable that should have been rejected on acceptance.
    mutating func compile(_ payload: [String: JSONValue]) throws(PayloadTemplate.Damage) -> CompiledPayload {
        self.compiled = CompiledPayload()
        var payload = payload
        if self.hasBadge {
            guard case .object(let aps)? = payload.removeValue(forKey: "aps") else { throw PayloadTemplate.Damage() }
            self.literal.raw(#"{"aps":{"#)
            self.endLiteral()
            let isAlone = aps["alert"] == nil && aps["sound"] == nil
            self.compiled.segments.append(.badge(hasNext: !aps.isEmpty, isAlone: isAlone))
            try self.write(members: aps)
            self.literal.raw(payload.isEmpty ? "}" : "},")
            try self.write(members: payload)
            self.literal.raw("}")
        } else {
            try self.write(.object(payload))
        }
        self.endLiteral()
        return self.compiled
    }

    private mutating func endLiteral() {
        guard !self.literal.bytes.isEmpty else { return }
        self.compiled.literalCount += self.literal.bytes.count
        self.compiled.segments.append(.literal(self.literal.bytes))
        self.literal = JSONWriter()
    }

    private mutating func write(_ value: JSONValue) throws(PayloadTemplate.Damage) {
        switch value {
        case .null, .bool, .integer, .number:
            do { try self.literal.value(value) } catch { throw PayloadTemplate.Damage() }
        case .string(let text): try self.write(text)
        case .array(let values):
            self.literal.raw("[")
            for (index, value) in values.enumerated() {
                if index > 0 { self.literal.raw(",") }
                try self.write(value)
            }
            self.literal.raw("]")
        case .object(let members):
            self.literal.raw("{")
            try self.write(members: members)
            self.literal.raw("}")
        }
    }

    private mutating func write(members: [String: JSONValue]) throws(PayloadTemplate.Damage) {
        for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { self.literal.raw(",") }
            self.literal.string(member.key)
            self.literal.raw(":")
            try self.write(member.value)
        }
    }

    private mutating func write(_ text: String) throws(PayloadTemplate.Damage) {
        guard self.hasVariables, TemplateText.hasMarks(text) else { return self.literal.string(text) }
        guard let template = try? TemplateText(parsing: text) else { throw PayloadTemplate.Damage() }
        self.literal.raw("\"")
        for part in template.parts { try self.write(part) }
        self.literal.raw("\"")
    }

    private mutating func write(_ part: TemplateText.Part) throws(PayloadTemplate.Damage) {
        switch part {
        case .text(let text): self.literal.characters(text[...])
        case .variable(let name, let fallback):
            self.endLiteral()
            var escaped: [UInt8] = []
            JSONWriter.append(charactersOf: (fallback ?? "")[...], to: &escaped)
            let source = try self.source(of: name)
            self.compiled.segments.append(
                .variable(name: name, source: source, fallback: fallback == nil ? nil : escaped)
            )
        }
    }

    private mutating func source(of name: String) throws(PayloadTemplate.Damage) -> CompiledPayload.Source {
        let source: CompiledPayload.Source
        if let builtIn = Self.builtIn[name] {
            source = builtIn
        } else if let index = self.names.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) {
            source = .attribute(index)
        } else {
            guard self.names.count < PayloadTemplate.maximumNames else { throw PayloadTemplate.Damage() }
            self.names.append(name)
            source = .attribute(self.names.count - 1)
        }
        self.sources.insert(source)
        return source
    }
}

extension PayloadMarker {
    /// Adds the member `martlet` to a compiled payload, whose last segment closes the object.
    func add(to payload: inout CompiledPayload) {
        guard case .literal(let end)? = payload.segments.popLast() else { return }
        let marked = Array(payload.segments.isEmpty ? self.add(to: Data(end)) : self.add(toEnd: end))
        payload.segments.append(.literal(marked))
        payload.literalCount += marked.count - end.count
    }

    /// Adds the member `martlet` to the end of an object's JSON text. The object must have other members.
    private func add(toEnd end: [UInt8]) -> Data { Data(end.dropLast() + Array(",\(self.text)}".utf8)) }
}
