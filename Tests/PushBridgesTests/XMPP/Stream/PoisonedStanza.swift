@testable import PushBridges

/// A stanza that any stranger can send through a server that is right, and that is not read.
enum PoisonedStanza: CaseIterable {
    case longName, longAttributeName, attributes, attributesOfTheStanza, manyAttributesOfTheStanza
    case prefixOfXML, namespaceOfXML, unknownPrefix, unknownPrefixOfTheStanza, emptyNamespace
    case prefixes, prefixesOfTheStanza
    case depth, elements, longText, section, value, valueOfTheStanza, endTag

    /// Returns the stanza.
    /// - Parameters:
    ///   - start: The beginning of its tag.
    ///   - limit: The longest stanza that is read, in bytes.
    func text(_ start: String, beyond limit: Int = XMPPStreamParser.maximumStanza) -> String {
        let tooLong = String(repeating: "&apos;", count: limit / 6 + 1)
        return switch self {
        case .longName: start + "><\(Self.overlong)/></message>"
        case .longAttributeName: start + "><x \(Self.overlong)=''/></message>"
        case .attributes: start + "><x\(Self.numbered(129))/></message>"
        case .attributesOfTheStanza: start + Self.numbered(65) + "/>"
        case .manyAttributesOfTheStanza: start + Self.numbered(129) + "><x/></message>"
        case .prefixOfXML: start + "><xml:x/></message>"
        case .namespaceOfXML: start + "><x xmlns='http://www.w3.org/XML/1998/namespace'/></message>"
        case .unknownPrefix: start + "><p:x/></message>"
        case .unknownPrefixOfTheStanza: start + " p:a=''><x/></message>"
        case .emptyNamespace: start + "><x xmlns:p=''/></message>"
        case .prefixes: start + "><x xmlns='x'\(Self.declarations)/></message>"
        case .prefixesOfTheStanza: start + Self.declarations + "/>"
        case .depth: start + ">" + Self.repeated("<x>") + Self.repeated("</x>") + "</message>"
        case .elements: start + ">" + Self.repeated("<x/>") + "</message>"
        case .longText: start + "><body>\(tooLong)</body></message>"
        case .section: start + "><body><![CDATA[\(tooLong)]]></body><x>]]&gt;</x></message>"
        case .value: start + "><x a='\(tooLong)/>'/></message>"
        case .valueOfTheStanza: start + " a='\(tooLong)/>'/>"
        case .endTag: start + "><x></x\(String(repeating: " ", count: limit))></message>"
        }
    }

    private static let overlong = String(repeating: "a", count: 257)
    private static let declarations = (1...65).map { " xmlns:p\($0)='p'" }.joined()

    private static func numbered(_ count: Int) -> String { (1...count).map { " a\($0)=''" }.joined() }

    private static func repeated(_ tag: String) -> String { String(repeating: tag, count: 1001) }
}
