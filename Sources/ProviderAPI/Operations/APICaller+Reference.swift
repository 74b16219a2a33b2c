import PushHTTP
import PushStore

extension APICaller {
    /// The key as what the request makes keeps it.
    var reference: KeyReference { KeyReference(id: self.id, name: self.name) }
}
