import PushSupport

extension XMLElement {
    /// Returns the text of the element, as it stands in a parent.
    ///
    /// Characters that XML cannot hold become U+FFFD.
    /// - Parameter parent: The default namespace of the parent; for a stanza, that of the stream.
    package func xml(in parent: String = "") -> String {
        var output = ""
        self.write(to: &output, in: parent)
        return output
    }

    private func write(to output: inout String, in parent: String) {
        let isStream = self.namespace == XMPPStream.namespace
        let name = isStream ? "stream:\(self.name)" : self.name
        output += "<\(name)"
        if !isStream, self.namespace != parent { output += " xmlns='\(Self.escaped(self.namespace))'" }
        for (name, value) in self.attributes.sorted(by: { $0.key < $1.key }) {
            output += " \(name)='\(Self.escaped(value))'"
        }
        guard !self.text.isEmpty || !self.children.isEmpty else {
            output += "/>"
            return
        }
        output += ">\(Self.escaped(self.text))"
        // An element with the prefix of the stream leaves the default namespace as it is.
        for child in self.children { child.write(to: &output, in: isStream ? parent : self.namespace) }
        output += "</\(name)>"
    }

    /// Returns text in which nothing has a meaning of its own, for attributes too.
    static func escaped(_ text: String) -> String {
        var output = ""
        output.reserveCapacity(text.utf8.count)
        for character in text.unicodeScalars {
            switch character {
            case "&": output += "&amp;"
            case "<": output += "&lt;"
            case ">": output += "&gt;"
            case "'": output += "&apos;"
            case "\"": output += "&quot;"
            // As they are, a reader would make spaces and line feeds of them.
            case "\t", "\n", "\r": output += "&#\(character.value);"
            case _ where !XMLCharacters.isAllowed(character): output += "\u{fffd}"
            default: output.unicodeScalars.append(character)
            }
        }
        return output
    }
}
