"""C text of one Function: names, arithmetic, layout in memory. Nothing here touches a disk or a compiler."""
