import Foundation
import PushStore
import PushSupport
import PushTypes

/// A device as a line of NDJSON.
enum DeviceLine {
    static func append(_ device: DeviceRecord, to text: inout [UInt8]) {
        let profile = device.profile
        text += "{\"token\":".utf8
        JSONWriter.append(device.token.hex, to: &text)
        let texts = [
            ("environment", device.environment.rawValue), ("user", profile.user), ("locale", profile.locale),
            ("timeZone", profile.timeZone), ("appVersion", profile.appVersion), ("installation", profile.installation),
        ]
        for (name, value) in texts {
            guard let value else { continue }
            text += ",\"\(name)\":".utf8
            JSONWriter.append(value, to: &text)
        }
        let capabilities = profile.capabilities.names
        if !capabilities.isEmpty { Self.append("capabilities", capabilities, to: &text) }
        if !profile.tags.isEmpty { Self.append("tags", profile.tags.sorted(), to: &text) }
        if !profile.attributes.isEmpty {
            text += ",\"attributes\":".utf8
            JSONWriter.append(profile.attributes, to: &text)
        }
        text += "}\n".utf8
    }

    private static func append(_ name: String, _ values: [String], to text: inout [UInt8]) {
        text += ",\"\(name)\":[".utf8
        for (index, value) in values.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            JSONWriter.append(value, to: &text)
        }
        text.append(UInt8(ascii: "]"))
    }
}

/// A device as a row of CSV; its attributes are a JSON object in one cell, because a header is written before it is
/// known which there are.
enum DeviceRow {
    static let header =
        "token,environment,user,locale,timeZone,appVersion,installation,capabilities,tags,attributes\r\n"

    static func append(_ device: DeviceRecord, to text: inout [UInt8]) {
        let profile = device.profile
        var attributes: [UInt8] = []
        if !profile.attributes.isEmpty { JSONWriter.append(profile.attributes, to: &attributes) }
        let cells: [String?] = [
            device.token.hex, device.environment.rawValue, profile.user, profile.locale, profile.timeZone,
            profile.appVersion, profile.installation, CSVCell.text(profile.capabilities.names),
            CSVCell.text(profile.tags.sorted()), String(decoding: attributes, as: UTF8.self),
        ]
        for (index, cell) in cells.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            Self.append(cell ?? "", to: &text)
        }
        text += "\r\n".utf8
    }

    private static func append(_ cell: String, to text: inout [UInt8]) {
        let needsQuotes = cell.utf8.contains { [0x22, 0x2c, 0x0a, 0x0d].contains($0) }
        guard needsQuotes else { return text += cell.utf8 }
        text.append(UInt8(ascii: "\""))
        for byte in cell.utf8 {
            if byte == UInt8(ascii: "\"") { text.append(byte) }
            text.append(byte)
        }
        text.append(UInt8(ascii: "\""))
    }
}

/// JSON text, byte by byte: an encoder is too slow for millions of lines.
private enum JSONWriter {
    static func append(_ text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        JSONEscaping.append(text.utf8, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    /// Members in alphabetical order.
    static func append(_ members: [String: JSONValue], to output: inout [UInt8]) {
        output.append(UInt8(ascii: "{"))
        for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            Self.append(member.key, to: &output)
            output.append(UInt8(ascii: ":"))
            switch member.value {
            case .string(let text): Self.append(text, to: &output)
            case .integer(let number): output += "\(number)".utf8
            case .bool(let flag): output += "\(flag)".utf8
            case let other: output += (try? other.text) ?? Data("null".utf8)
            }
        }
        output.append(UInt8(ascii: "}"))
    }
}

extension DeviceCapabilities {
    /// As the API names them, in alphabetical order.
    var names: [String] {
        Self.named.filter { self.contains($0.value) }.keys.sorted()
    }
}
