import PushSupport

/// The XML namespace declarations that are in scope at a position of a stream.
struct XMLScope {
    private static let xml = "http://www.w3.org/XML/1998/namespace"
    private static let xmlns = "http://www.w3.org/2000/xmlns/"

    /// The declared prefixes and their namespaces, those of the outermost element first. The default namespace has an
    /// empty prefix.
    private var bindings: [(prefix: String, namespace: String)] = []

    var count: Int { self.bindings.count }

    var defaultNamespace: String { self.namespace("") ?? "" }

    /// Enters an element. Its declarations stay in scope until ``leave(to:)``.
    /// - Returns: The element, and the argument for ``leave(to:)``, which ends the scope.
    mutating func enter(_ tag: XMLTag) throws(XMPPStreamError) -> (XMLElement, Int) {
        let outside = self.bindings.count
        for (name, value) in tag.attributes {
            let (prefix, local) = XMLTag.split(name)
            if name == "xmlns" { try self.declare("", value) }
            if prefix == "xmlns" { try self.declare(String(local), value) }
        }
        let (prefix, local) = XMLTag.split(tag.name)
        guard prefix != "xml" else {
            throw XMPPStreamError(.badNamespacePrefix, "an element has the prefix of XML itself")
        }
        var element = XMLElement(String(local), namespace: try self.resolve(prefix))
        for (name, value) in tag.attributes where name != "xmlns" {
            let (prefix, _) = XMLTag.split(name)
            switch prefix {
            case "xmlns": break
            case "", "xml": element[name] = value
            // Attributes with other prefixes are ignored, because no supported extension uses them.
            default: _ = try self.resolve(prefix)
            }
        }
        guard element.attributes.count <= XMLTag.maximumAttributes else {
            throw XMPPStreamError(.policyViolation, "an element has more than \(XMLTag.maximumAttributes) attributes")
        }
        return (element, outside)
    }

    /// Returns the element of a tag, without attributes and namespace declarations. The scope does not change.
    ///
    /// The namespace of an undeclared prefix is empty.
    func bareElement(_ tag: XMLTag) -> XMLElement {
        let (prefix, local) = XMLTag.split(tag.name)
        return XMLElement(String(local), namespace: prefix == "xml" ? "" : self.namespace(prefix) ?? "")
    }

    mutating func leave(to outside: Int) { self.bindings.removeLast(max(0, self.bindings.count - outside)) }

    private mutating func declare(_ prefix: String, _ namespace: String) throws(XMPPStreamError) {
        let isReserved = prefix == "xmlns" || namespace == Self.xmlns || (prefix == "xml") != (namespace == Self.xml)
        guard !isReserved, !namespace.isEmpty || prefix.isEmpty else {
            throw XMPPStreamError(.notWellFormed, "a prefix is declared that cannot be")
        }
        guard self.bindings.count < XMPPStreamParser.maximumPrefixes else {
            let limit = XMPPStreamParser.maximumPrefixes
            throw XMPPStreamError(.policyViolation, "it has more than \(limit) declarations of namespaces")
        }
        self.bindings.append((prefix, namespace))
    }

    private func namespace(_ prefix: Substring) -> String? { self.bindings.last { $0.prefix == prefix }?.namespace }

    private func resolve(_ prefix: Substring) throws(XMPPStreamError) -> String {
        if prefix == "xml" { return Self.xml }
        if let namespace = self.namespace(prefix) { return namespace }
        guard prefix.isEmpty else { throw XMPPStreamError(.badNamespacePrefix, "a prefix is not declared") }
        return ""
    }
}
