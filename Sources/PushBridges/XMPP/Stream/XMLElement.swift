import PushSupport

/// An element of an XML stream, with its attributes, text and children.
package struct XMLElement: Hashable, Sendable {
    package var name: String
    /// The namespace to which the prefix or the default namespace was resolved.
    package var namespace: String
    /// The attributes without a prefix, and those with the prefix `xml:`, such as `xml:lang`.
    package var attributes: [String: String]
    package var children: [XMLElement]
    /// The characters directly in the element, including those between its children.
    package var text: String

    package init(
        _ name: String,
        namespace: String,
        attributes: [String: String] = [:],
        text: String = "",
        children: [XMLElement] = []
    ) {
        (self.name, self.namespace, self.attributes) = (name, namespace, attributes)
        (self.text, self.children) = (text, children)
    }

    package subscript(attribute: String) -> String? {
        get { self.attributes[attribute] }
        set { self.attributes[attribute] = newValue }
    }

    /// Returns the first child with a name and namespace, or `nil` if there is none.
    package func child(_ name: String, _ namespace: String) -> XMLElement? {
        self.children.first { $0.has(name, namespace) }
    }

    package func children(_ name: String, _ namespace: String) -> [XMLElement] {
        self.children.filter { $0.has(name, namespace) }
    }

    package func has(_ name: String, _ namespace: String) -> Bool { self.name == name && self.namespace == namespace }
}

extension XMLElement {
    /// Returns the XML of the element as a child of another element.
    ///
    /// Characters that are not allowed in XML are replaced by U+FFFD.
    /// - Parameter parent: The default namespace of the parent. For a stanza, it is that of the stream.
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
            // A parser would otherwise normalize them to spaces and line feeds.
            case "\t", "\n", "\r": output += "&#\(character.value);"
            case _ where !XMLCharacters.isAllowed(character): output += "\u{fffd}"
            default: output.unicodeScalars.append(character)
            }
        }
        return output
    }
}
