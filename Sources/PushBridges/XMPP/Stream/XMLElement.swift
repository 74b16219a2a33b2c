/// An element of a stream of XML, with everything in it.
package struct XMLElement: Hashable, Sendable {
    /// The name without a prefix.
    package var name: String
    /// The namespace, which no prefix stands for any more.
    package var namespace: String
    /// The attributes without a prefix, and those of `xml:`, such as `xml:lang`.
    package var attributes: [String: String]
    package var children: [XMLElement]
    /// The characters that stand directly in the element, those between its children included.
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

    /// Returns the first child of a name and namespace.
    package func child(_ name: String, _ namespace: String) -> XMLElement? {
        self.children.first { $0.has(name, namespace) }
    }

    /// Returns the children of a name and namespace.
    package func children(_ name: String, _ namespace: String) -> [XMLElement] {
        self.children.filter { $0.has(name, namespace) }
    }

    /// Indicates whether it has a name and namespace.
    package func has(_ name: String, _ namespace: String) -> Bool { self.name == name && self.namespace == namespace }
}
